import { healthAssessment, type Run } from '../run/run.ts';
import { isFinal } from '../run/status.ts';
import { freezeVariables } from '../runs/inputs.ts';
import { getRun } from '../runs/records.ts';
import { checkIn } from '../store/due.ts';
import { newId } from '../store/id.ts';
import { keys } from '../store/keys.ts';
import { create, query, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import { firstQueued, type Workspace } from '../workspaces/records.ts';
import { defaultOptions } from './create-run.ts';
import { endAssessment } from './end-assessment.ts';
import { enqueue, pendingIn } from './new-run.ts';

/**
 * Assessments of health (HCP Terraform: drift detection and continuous validation). Each is a plan of its own by the
 * machine and the runners of runs, and nobody sees it as a run: it takes no number, no place in the queue and no lock, so
 * that no run ever waits for one. A run that takes its turn in the queue ends it.
 */

/** Why a workspace cannot be assessed now, for people; `passes`: it may be otherwise soon. */
export interface Obstacle {
  reason: string;
  passes: boolean;
}

/** So many of an organization go on at once, beside those that people ask for. */
const assessmentsAtOnce = 10;

/** Somebody who claimed a workspace for an assessment, and died before there was one. */
const claimSeconds = 300;

const oldest = [0, 15, 4];

/** Before it, Terraform did not tell of drift. Constraints and `latest` lead to newer ones. */
const isTooOld = ({ engine, terraformVersion }: Workspace): boolean => {
  if (engine === 'tofu' || !/^\d+\.\d+\.\d+$/.test(terraformVersion)) return false;
  const parts = terraformVersion.split('.').map(Number);
  const first = oldest.findIndex((number, i) => number !== parts[i]);
  return first >= 0 && (parts[first] ?? 0) < (oldest[first] ?? 0);
};

const lasting = (reason: string): Obstacle => ({ reason, passes: false });
const passing = (reason: string): Obstacle => ({ reason, passes: true });

/** The run whose configuration is what the infrastructure should be. 1–2 reads. */
const basisOf = async (workspace: Workspace): Promise<Run | Obstacle> => {
  const { executionMode, managedBy, state, lock, latestRunId } = workspace;
  if (executionMode === 'local') return lasting('its execution mode is local');
  if (managedBy) return lasting(`it belongs to ${managedBy}`);
  if (isTooOld(workspace)) return lasting('drift detection needs Terraform 0.15.4 or newer');
  if (!state?.resources) return passing('it has no resources');
  if (lock?.kind === 'run' || (await firstQueued(workspace.id))) return passing('a run is in progress');
  const run = latestRunId ? await getRun(latestRunId) : undefined;
  if (!run) return passing('no run has been applied yet');
  if (run.status === 'applied' || run.status === 'planned_and_finished') return run;
  return passing(`its latest run ${run.id} is ${run.status}: apply a run first`);
};

/** Makes way for a new assessment where the last one was cut off. */
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

/** Starts an assessment, unless something is in the way. 5 reads, 4 writes, 1 StartExecution. */
export const assess = async (workspace: Workspace): Promise<Obstacle | undefined> => {
  const basis = await basisOf(workspace);
  if ('reason' in basis) return basis;
  await takeBack(workspace);
  const id = newId('run');
  const createdAt = now();
  const claimed = await update<Workspace>(keys.workspace(workspace.id), {
    set: { assessing: { runId: id, at: createdAt } },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt) AND attribute_not_exists(assessing)',
  });
  if (!claimed) return passing('an assessment is in progress');
  const run: Run = {
    ...defaultOptions,
    ...(await pendingIn(claimed, createdAt)),
    id,
    number: 0,
    message: 'Health assessment',
    planOnly: true,
    autoApply: false,
    assessment: { stateId: claimed.state?.id ?? '' },
    configurationVersionId: basis.configurationVersionId,
    archive: basis.archive,
    ingress: basis.ingress,
    createdBy: healthAssessment,
    source: 'tfe-infrastructure-lifecycle',
    structuredOutput: true,
    terraformVersion: claimed.terraformVersion,
    inputsKey: await freezeVariables(claimed, id, []),
    timeLimits: basis.timeLimits,
  };
  await create({ ...keys.run(id), ...run, ...checkIn(id, 60) });
  await enqueue(run);
  return undefined;
};

/** Whether the organization has as many going on as may be. 1 read. */
export const isCrowded = async (organization: string): Promise<boolean> => {
  const { pk } = keys.organization(organization);
  return (await query({ pk, prefix: 'ASSESSING#', limit: assessmentsAtOnce })).length >= assessmentsAtOnce;
};
