import type { TestVerdict } from './module-test-record.ts';
import type { Run } from './run.ts';
import { isFinal } from './status.ts';

/** Test runs of modules (HCP API: test runs). Pure. */

/** HCP API: `status` of a test run. */
export type TestRunStatus = 'queued' | 'running' | 'finished' | 'errored' | 'canceled';

/** Clients poll while the test run is queued. Then they read the log by requests that wait for output. */
export const testRunStatus = ({ status }: Pick<Run, 'status'>): TestRunStatus => {
  if (status === 'pending') return 'queued';
  if (!isFinal(status)) return 'running';
  if (status === 'planned_and_finished') return 'finished';
  return status === 'errored' ? 'errored' : 'canceled';
};

/** HCP API: `test-status`. Clients fail on an empty one. */
export const testVerdict = ({ status, plan }: Pick<Run, 'status' | 'plan'>): TestVerdict | 'pending' => {
  if (!isFinal(status)) return 'pending';
  return plan.report?.tests?.status ?? 'error';
};
