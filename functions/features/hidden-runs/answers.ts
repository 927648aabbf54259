import { type Answer, accepted } from '#api/answer.ts';
import { type ApiError, conflict } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { cancelHidden, countHidden, forceCancelHidden, hiddenAtOnce } from '#lifecycle/creation/hidden-runs.ts';
import type { Limit } from '#platform/store/limited.ts';
import type { Run } from '#run/run.ts';

/** Shared by the routes of test runs and query runs. */

const marks = { 'test runs': 'TESTING#', 'query runs': 'QUERYING#' } as const;

/** Limit of runs in progress, because each has a runner. */
export const limitOf = (organization: string, noun: keyof typeof marks): Limit => ({
  max: hiddenAtOnce,
  count: () => countHidden(organization, marks[noun]),
  full: () =>
    conflict(`${hiddenAtOnce} ${noun} of ${nameOf(organization)} are in progress, the maximum. Wait for one to end.`),
});

const refused = ({ status }: Run, name: string, verb: string): ApiError =>
  conflict(`${name} is ${status} and cannot be ${verb} now.`, 'transition not allowed');

/** @param name name for messages: `Test run trun-…` @throws {ApiError} 409 */
export const cancelHiddenRun = async (run: Run, userId: string, name: string): Promise<Answer> => {
  if (!(await cancelHidden(run, userId))) throw refused(run, name, 'canceled');
  return accepted();
};

/** @throws {ApiError} 409 */
export const forceCancelHiddenRun = async (run: Run, userId: string, name: string): Promise<Answer> => {
  if (!(await forceCancelHidden(run, userId))) throw refused(run, name, 'force-canceled');
  return accepted();
};
