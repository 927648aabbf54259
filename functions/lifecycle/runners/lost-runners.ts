import { deliver } from '#resources/runs/execution.ts';
import { updateRun } from '#resources/runs/records.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { stateNote } from '#run/ending.ts';
import type { PhaseName, Run } from '#run/run.ts';

/** Number of managed resource instances in the workspace's state. */
export const recordedResources = async (workspaceId: string): Promise<number> =>
  (await getWorkspace(workspaceId))?.state?.resources ?? 0;

/**
 * Ends the phase of a runner that stopped without a report, at once instead of at the next missed heartbeat.
 * @param why reason for users, e.g. `exit code 1`
 */
export const endPhase = async (run: Run, phase: PhaseName, why: string): Promise<void> => {
  // The end of the run applies the last snapshots (resources/states/snapshots.ts).
  const counted = phase === 'apply' && !run.apply.changesKept;
  const note = stateNote(run, counted ? await recordedResources(run.workspaceId) : undefined);
  const message = `The runner stopped during the ${phase} (${why}). ${note}`;
  const ended = await updateRun(run.id, {
    set: {
      [`${phase}.report`]: {
        outcome: run.cancel ? 'canceled' : 'errored',
        message,
        lost: true,
        ...(phase === 'apply' ? { stateProblem: message } : {}),
      },
    },
    condition: `attribute_not_exists(${phase}.report)`,
  });
  if (ended) await deliver(ended);
};

/** A plan's runner is no longer ready for the apply. If it was reserved and has not claimed, another runner applies. */
export const forgetReady = async (run: Run): Promise<void> => {
  const forgotten = await updateRun(run.id, {
    remove: ['plan.ready', 'apply.claimHash', 'apply.reserved'],
    condition: 'plan.ready.keyHash = :key AND attribute_not_exists(apply.claimNonce)',
    values: { ':key': run.plan.ready?.keyHash },
  });
  if (forgotten) await deliver(forgotten);
};
