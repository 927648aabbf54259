import { decide } from '#lifecycle/decisions/decisions.ts';
import { isAccepted } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { CoderError } from './host/errors.ts';
import type { Call } from './host/route.ts';
import type { jobStatus } from './jobs.ts';

/** Cancels the job of a build, an import or a dry run. */

export const cancelRuns = async (runs: Run[], userId: string): Promise<void> => {
  for (const run of runs)
    if (isAccepted('cancel', run)) await decide(run, 'cancel', userId, 'Canceled by environments');
};

/** @throws {CoderError} 400 for a job that has ended or is already canceled */
export const checkCancelable = (status: ReturnType<typeof jobStatus>): void => {
  if (status === 'canceling') throw new CoderError(400, 'Job has already been marked as canceled!');
  if (status !== 'pending' && status !== 'running') throw new CoderError(400, 'Job has already completed!');
};

export const checkExpected = (call: Call, status: string): void => {
  const expected = call.request.query.get('expect_status') ?? '';
  if (!['', 'pending', 'running'].includes(expected)) {
    throw new CoderError(400, `Invalid expect_status "${expected}". Only 'running' and 'pending' are allowed.`);
  }
  if (expected !== '' && expected !== status) throw new CoderError(412, 'Job is not in the expected state.');
};

export const canceled = { message: 'Job has been marked as canceled...' };
