import { configurationOf } from '#lifecycle/creation/hidden-runs.ts';
import { enqueue, pendingRun } from '#lifecycle/creation/new-run.ts';
import { checkIn } from '#platform/store/due.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { create, query, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getConfigurationVersion } from '#resources/configurations/records.ts';
import { freezeVariables } from '#resources/runs/inputs.ts';
import { getRun, itemOf } from '#resources/runs/records.ts';
import { refusalIn } from '#resources/workspaces/admitted-runs.ts';
import { DrainingError, getDrain } from '#resources/workspaces/drain.ts';
import { firstQueued } from '#resources/workspaces/queue-entries.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { healthAssessment, type Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { useVersion } from '#version-control/use-version.ts';
import { endAssessment } from './end-assessment.ts';

/**
 * Health assessments (HCP Terraform: drift detection and continuous validation). Each is a hidden run: a plan of its
 * own, with the same machine and runners. It has no run number, no place in the queue and no lock, so that no run
 * ever waits for one. A run that becomes current ends it.
 */

/** Reason why a workspace cannot be assessed now, for users; `passes`: the reason is temporary. */
export interface Obstacle {
  reason: string;
  passes: boolean;
}

/** Maximum of concurrent scheduled assessments of an organization; those that users start do not count. */
const assessmentsAtOnce = 10;

/** After this, a claim for an assessment that was never created is void. */
const claimSeconds = 300;

const oldest = [0, 15, 4];

/** Older versions of Terraform do not report drift. Constraints and `latest` resolve to newer ones. */
const isTooOld = ({ engine, terraformVersion }: Workspace): boolean => {
  if (engine === 'tofu' || !/^\d+\.\d+\.\d+$/.test(terraformVersion)) return false;
  const parts = terraformVersion.split('.').map(Number);
  const first = oldest.findIndex((number, i) => number !== parts[i]);
  return first >= 0 && (parts[first] ?? 0) < (oldest[first] ?? 0);
};

const lasting = (reason: string): Obstacle => ({ reason, passes: false });
const passing = (reason: string): Obstacle => ({ reason, passes: true });

/** The run whose configuration the infrastructure should match. 1–2 reads. */
const basisOf = async (workspace: Workspace): Promise<Run | Obstacle> => {
  const { executionMode, managedBy, state, lock, latestRunId } = workspace;
  if (executionMode === 'local') return lasting('its execution mode is local');
  if (managedBy) return lasting(`it belongs to ${managedBy}`);
  const refusal = refusalIn(workspace);
  if (refusal !== undefined) return lasting(refusal.replace(/\.$/, ''));
  if (isTooOld(workspace)) return lasting('drift detection needs Terraform 0.15.4 or newer');
  if (!state?.resources) return passing('it has no resources');
  if (lock?.kind === 'run' || (await firstQueued(workspace.id))) return passing('a run is in progress');
  const run = latestRunId ? await getRun(latestRunId) : undefined;
  if (!run) return passing('no run has been applied yet');
  if (run.status === 'applied' || run.status === 'planned_and_finished') return run;
  return passing(`its latest run ${run.id} is ${run.status}: apply a run first`);
};

/** Releases the claim of an interrupted assessment. */
const takeBack = async ({ id, assessing }: Workspace): Promise<void> => {
  if (!assessing) return;
  const run = await getRun(assessing.runId);
  if (run && isFinal(run.status)) return endAssessment(run);
  if (run || Date.now() - Date.parse(assessing.at) < claimSeconds * 1000) return;
  await update(keys.workspace(id), {
    remove: ['assessing'],
    condition: 'assessing.runId = :run',
    values: { ':run': assessing.runId },
  });
};

/** The configuration of that run. Its files are fetched again if they were archived: 1 read and 1 write for a commit. */
const filesOf = async ({ configurationVersionId, archive, ingress }: Run, id: string) => {
  const version = ingress?.fromForge ? await getConfigurationVersion(configurationVersionId) : undefined;
  if (!version) return { configurationVersionId, archive };
  return configurationOf(await useVersion(version, id));
};

/** Starts an assessment, unless the workspace cannot be assessed now. 5 reads, 4 writes, 1 StartExecution. */
export const assess = async (workspace: Workspace): Promise<Obstacle | undefined> => {
  const basis = await basisOf(workspace);
  if ('reason' in basis) return basis;
  const drain = await getDrain();
  if (drain) return passing(new DrainingError(drain).message.replace(/\.$/, ''));
  await takeBack(workspace);
  const id = newId('run');
  const claimed = await updateRecord<Workspace>(keys.workspace(workspace.id), {
    set: { assessing: { runId: id, at: now() } },
    condition: 'attribute_not_exists(assessing)',
  });
  if (!claimed) return passing('an assessment is in progress');
  const run = await pendingRun(claimed, {
    id,
    message: 'Health assessment',
    planOnly: true,
    assessment: { stateId: claimed.state?.id ?? '' },
    ...(await filesOf(basis, id)),
    ingress: basis.ingress,
    createdBy: healthAssessment,
    source: 'tfe-infrastructure-lifecycle',
    structuredOutput: true,
    terraformVersion: claimed.terraformVersion,
    inputsKey: await freezeVariables(claimed, id, []),
    providerSetsKey: basis.providerSetsKey,
    timeLimits: basis.timeLimits,
  });
  await create({ ...keys.run(id), ...itemOf(run), ...checkIn(id, 60) });
  await enqueue(run);
  return undefined;
};

/** Whether the organization already runs the maximum of scheduled assessments. 1 read. */
export const isCrowded = async (organization: string): Promise<boolean> => {
  const { pk } = keys.organization(organization);
  return (await query({ pk, prefix: 'ASSESSING#', limit: assessmentsAtOnce })).length >= assessmentsAtOnce;
};
