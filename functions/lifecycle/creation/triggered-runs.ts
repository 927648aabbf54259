import { noPermissions } from '#api/permissions/granted.ts';
import { derivedId } from '#platform/store/id.ts';
import { latestConfigurationVersion } from '#resources/configurations/latest.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { listRunTriggers, type RunTrigger } from '#resources/runs/triggers.ts';
import { refusalIn } from '#resources/workspaces/admitted-runs.ts';
import { DrainingError } from '#resources/workspaces/drain.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { queueRun } from './create-run.ts';

/** Queues the runs that an apply triggers in other workspaces (HCP Terraform: run triggers). */

/** Maximum of runs created concurrently. */
const atOnce = 10;

/**
 * Queues a run in every workspace that the applied run triggers. Idempotent: the id of each triggered run is derived
 * from the applied run and the workspace.
 * @throws the error of the last failed creation, after all were tried
 */
export const queueTriggeredRuns = async (run: Run): Promise<void> => {
  if (run.status !== 'applied') return;
  const triggers = await listRunTriggers(run.workspaceId, 'outbound');
  const failures: unknown[] = [];
  for (let i = 0; i < triggers.length; i += atOnce) {
    const outcomes = await Promise.allSettled(triggers.slice(i, i + atOnce).map((trigger) => queueOne(run, trigger)));
    failures.push(...outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])));
  }
  if (failures.length) throw failures.at(-1);
};

const queueOne = async (run: Run, { id, workspaceId }: RunTrigger): Promise<void> => {
  const workspace = await getWorkspace(workspaceId);
  if (workspace?.organization !== run.organization) return;
  const skip = (why: string) =>
    recordRunEvent(run, 'run_trigger_skipped', undefined, undefined, run.statusTimestamps['applied-at'], why, id);
  const via = [...(run.trigger?.via ?? []), run.workspaceId];
  if (via.includes(workspaceId)) {
    return skip(`No run was queued in ${workspace.name}: its own apply triggered this run.`);
  }
  if (workspace.managedBy) {
    return skip(`No run was queued in ${workspace.name}: it belongs to ${workspace.managedBy}.`);
  }
  if (workspace.executionMode === 'local') {
    return skip(`No run was queued in ${workspace.name}: its execution mode is local.`);
  }
  const refusal = refusalIn(workspace);
  if (refusal !== undefined) return skip(`No run was queued in ${workspace.name}. ${refusal}`);
  const version = await latestConfigurationVersion(workspaceId);
  if (!version) return skip(`No run was queued in ${workspace.name}: it has no configuration yet.`);
  const queued = queueRun({
    workspace,
    version,
    message: `Triggered by an apply in ${run.workspaceName} (${run.id})`,
    createdBy: run.createdBy,
    granted: noPermissions,
    source: 'tfe-api',
    id: derivedId('run', `${run.id} ${workspaceId}`),
    trigger: { runId: run.id, workspaceId: run.workspaceId, workspaceName: run.workspaceName, via },
  });
  await queued.catch((error) => {
    if (!(error instanceof DrainingError)) throw error;
    return skip(`No run was queued in ${workspace.name}. ${error.message}`);
  });
};
