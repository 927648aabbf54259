import { dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { put, query, remove } from '#platform/store/table.ts';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import { actor, requestCancel } from '#resources/runs/cancel.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import { runActions } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** Common to assessments, test runs and query runs (run/hidden.ts): limits and cancellation. */

/**
 * The configuration of a hidden run. One that is still being fetched lets the run wait in Fetching.
 */
export const configurationOf = ({
  id,
  archive,
  status,
}: ConfigurationVersion): Pick<Run, 'configurationVersionId' | 'archive' | 'checks'> => ({
  configurationVersionId: id,
  archive,
  ...(status === 'uploaded' ? {} : { checks: { fetching: true } }),
});

/** Marks an unfinished hidden run in its organization. */
const markerOf = ({ organization, id, test, query: asksForResources }: Run): Key => {
  if (test) return keys.testing(organization, id);
  return asksForResources ? keys.querying(organization, id) : keys.assessing(organization, id);
};

/** Adds the run's marker, which counts toward the limit. Idempotent. 1 write. */
export const beginHidden = async (run: Run): Promise<void> =>
  void (await put({ ...markerOf(run), runId: run.id, workspaceId: run.workspaceId }));

/** Removes the marker. Idempotent. 1 write. */
export const endHidden = async (run: Run): Promise<void> => void (await remove(markerOf(run)));

/** Maximum of concurrent test runs, and of query runs, in an organization. */
export const hiddenAtOnce = 10;

/** Number in progress, at most one more than the maximum. 1 read. */
export const countHidden = async (organization: string, kind: 'TESTING#' | 'QUERYING#'): Promise<number> => {
  const { pk } = keys.organization(organization);
  return (await query({ pk, prefix: kind, limit: hiddenAtOnce + 1 })).length;
};

/**
 * Stops the run gracefully, like Ctrl-C. Idempotent, because Terraform's command line repeats the request when the
 * user presses Ctrl-C twice.
 * @returns false if the run has ended
 */
export const cancelHidden = async (run: Run, by: string): Promise<boolean> => {
  const canceled = (await requestCancel(run.id, by)) ?? (await getRun(run.id));
  if (!canceled || isFinal(canceled.status)) return false;
  await deliver(canceled);
  return true;
};

/**
 * Ends a canceled run that does not stop.
 * @returns false while it may still stop by itself, or if it has ended
 */
export const forceCancelHidden = async (run: Run, by: string): Promise<boolean> => {
  const user = actor(by);
  const forced = await updateRun(run.id, {
    set: { ...runActions['force-cancel'].change(user, run).set, ...dueIn(run.id, 30) },
    condition: 'cancel.forceAvailableAt <= :now',
    values: { ':now': user.at },
  });
  if (forced) await deliver(forced);
  return forced !== undefined;
};
