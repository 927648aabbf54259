import { noPermissions } from '#api/permissions/granted.ts';
import { decide } from '#lifecycle/decisions/decisions.ts';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { dueIn } from '#platform/store/due.ts';
import type { Key } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { getRun } from '#resources/runs/records.ts';
import { discardStale, isStale } from '#resources/runs/saved-plans.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { versionControl } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { completeClientEnd, completeInstallationEnd, completeTokenEnd } from '#version-control/complete-end.ts';
import { handleDelivery } from '#version-control/handle.ts';
import type { Orchestration } from '#version-control/handling.ts';
import { settleRepository } from '#version-control/webhooks.ts';
import { queueRun } from './create-run.ts';
import { OutdatedCommitError } from './new-run.ts';

/** Handles events of version control, and due items. */

const orchestration: Orchestration = {
  queueRun: async ({ by, ...request }) => {
    try {
      await queueRun({
        ...request,
        createdBy: by?.userId ?? versionControl,
        granted: by?.granted ?? noPermissions,
        source: 'tfe-configuration-version',
      });
      return true;
    } catch (error) {
      if (error instanceof OutdatedCommitError) return false;
      throw error;
    }
  },
  cancelOutdated: async (runId, why) => {
    const run = await getRun(runId);
    if (!run?.ingress?.pullRequest || !(run.planOnly || run.savePlan) || isFinal(run.status)) return;
    // Runs that are being applied continue.
    if (run.decision) return;
    if (run.status === 'planned_and_saved')
      await decide(run, 'discard', versionControl, `Discarded automatically: ${why}`);
    else await decide(run, 'cancel', versionControl, `Canceled automatically: ${why}`);
  },
  applyPlan: async (run, userId) => {
    const workspace = await getWorkspace(run.workspaceId);
    if (!workspace || isStale(run, workspace)) {
      await discardStale(run.id);
      return 'stale';
    }
    return decide(run, 'apply', userId, 'Requested in a comment on the pull request.');
  },
};

interface DueEvent {
  /** The item that the sweep found due. */
  due: Key;
}

/** Keeps the sweep from finding the item again while it is being handled. */
const heldSeconds = 360;

const completeDue = async (key: Key): Promise<void> => {
  const [kind = '', id = ''] = [key.sk.split('#')[0], key.pk.split('#').slice(1).join('#')];
  if (kind === 'DELIVERY') {
    return handleDelivery({ uuid: id, id: key.sk.slice('DELIVERY#'.length) }, orchestration);
  }
  if (kind === 'ARCHIVE') return invokeLater(environment.fetchCommitFunction, { archive: id });
  if (kind === 'COMMIT') return invokeLater(environment.commitStatusFunction, { commit: id });
  if (kind === 'REPO') return void (await settleRepository(id));
  if (kind === 'OC') return completeClientEnd(id);
  if (kind === 'OT') return completeTokenEnd(id);
  if (kind === 'GHAIN') return completeInstallationEnd(id);
};

export const handler = async (event: { delivery: { uuid: string; id: string } } | DueEvent): Promise<void> => {
  if ('delivery' in event) return handleDelivery(event.delivery, orchestration);
  const held = await update(event.due, {
    set: dueIn(event.due.pk, heldSeconds),
    condition: 'dueAt <= :now',
    values: { ':now': new Date().toISOString() },
  });
  // Commits and archives have leases of their own.
  if (held) await completeDue(event.due);
};
