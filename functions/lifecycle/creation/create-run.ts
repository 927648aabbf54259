import type { Granted } from '#api/permissions/granted.ts';
import { authorsOf, mayAllApply } from '#lifecycle/decisions/automatic-apply.ts';
import { newId } from '#platform/store/id.ts';
import { type ConfigurationVersion, checkUpload } from '#resources/configurations/records.ts';
import { freezeVariables } from '#resources/runs/inputs.ts';
import { getRun } from '#resources/runs/records.ts';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import { checkAdmitted, refusalIn } from '#resources/workspaces/admitted-runs.ts';
import { DrainingError } from '#resources/workspaces/drain.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { defaultOptions, type Run } from '#run/run.ts';
import { useVersion } from '#version-control/use-version.ts';
import { configurationSettled } from './fetching.ts';
import { freezeChecks } from './freeze-checks.ts';
import { type ChosenRun, completed, createRun, type FollowedMove } from './new-run.ts';

/** Creates runs for API requests, uploaded configurations and run triggers. */

export interface RunRequest extends ChosenRun {
  workspace: Workspace;
  version: ConfigurationVersion;
  /** Permissions of the creator. */
  granted: Granted;
  /** The client renders Terraform's JSON UI lines; if absent, `source` decides. */
  rendersLogs?: boolean;
  /** Number of the branch's move; no run is created for an outdated move. */
  move?: FollowedMove;
}

/** The run that an earlier, identical request created; starts it if that request was interrupted. 1 read. */
export const repeated = async (id: string): Promise<Run | undefined> => {
  const run = await getRun(id);
  return run && completed(run);
};

/**
 * JSON lines contain the times of each resource but no diff. Clients that render the diff from the plan get JSON
 * lines: the command line with a cloud block, and the page for runs started there and for pushes.
 */
const drawsPlans = (source: string, isOfCommit: boolean): boolean =>
  source === 'terraform+cloud' || source === 'tfe-ui' || (source === 'tfe-configuration-version' && isOfCommit);

/** {@link createFrom}, or the run that an earlier request with this id created. */
export const queueRun = async (request: RunRequest): Promise<Run> =>
  (request.id ? await repeated(request.id) : undefined) ?? createFrom(request);

/**
 * Freezes variables and checks, then creates and starts the run. automatic-apply.ts decides whether it may apply
 * without confirmation.
 * @throws {ApiError} 409 if the organization's runs cannot start
 * @throws {DrainingError}
 */
export const createFrom = async (request: RunRequest): Promise<Run> => {
  const { workspace, version: requested, granted, rendersLogs = true, move, ...wanted } = request;
  const { allowEmptyApply, createdBy, savePlan, source, targetAddrs, trigger, variables } = {
    ...defaultOptions,
    ...wanted,
  };
  checkAdmitted(workspace);
  const id = wanted.id ?? newId('run');
  const version = await useVersion(requested, id);
  const planOnly = wanted.planOnly || version.speculative;
  const [inputsKey, checks] = await Promise.all([
    freezeVariables(workspace, id, variables),
    freezeChecks(workspace, {
      id,
      planOnly,
      targetAddrs,
      // A commit that could not be fetched ends the run in Fetching, with its reason.
      fetching: version.status !== 'uploaded',
    }),
  ]);
  const appliesFor = authorsOf(createdBy, version, trigger);
  const wantsApply = trigger ? workspace.autoApplyRunTrigger : (wanted.autoApply ?? workspace.autoApply);
  const automatic =
    (wantsApply || allowEmptyApply) &&
    !planOnly &&
    !savePlan &&
    (await mayAllApply(appliesFor, { ...workspace, workspace }, trigger ? {} : { [createdBy]: granted }));
  // A retried run is part of its commit's status; a triggered run is not.
  const commit = wanted.commit ?? (trigger ? undefined : version.commit);
  const newRun = {
    ...wanted,
    id,
    planOnly,
    autoApply: automatic && wantsApply,
    ...(automatic ? { appliesFor } : {}),
    commit,
    configurationVersionId: version.id,
    archive: version.archive,
    ingress: version.ingress,
    structuredOutput: workspace.structuredRunOutputEnabled && rendersLogs && drawsPlans(source, commit !== undefined),
    terraformVersion: wanted.terraformVersion ?? workspace.terraformVersion,
    inputsKey,
    ...checks,
  };
  return createRun(workspace.id, newRun, move);
};

const unlessDraining = (error: unknown): undefined => {
  if (!(error instanceof DrainingError)) throw error;
};

/** Creates the run of an uploaded configuration that has auto-queue-runs; none while the platform is drained. */
const queueUploaded = async (version: ConfigurationVersion): Promise<Run | undefined> => {
  if (version.status !== 'uploaded' || !version.autoQueueRuns) return undefined;
  const workspace = await getWorkspace(version.workspaceId);
  if (!workspace || workspace.executionMode === 'local' || refusalIn(workspace)) return undefined;
  const granted = await grantsOfUser(version.createdBy).on({ organization: version.organization, workspace });
  const run = queueRun({
    workspace,
    version,
    message: 'Queued by a configuration upload',
    savePlan: version.provisional,
    createdBy: version.createdBy,
    granted,
    source: 'tfe-configuration-version',
    id: version.runId,
  });
  return run.catch(unlessDraining);
};

/** Accepts an upload when its configuration version is read; the S3 event does the same (configuration-uploaded.ts). */
export const acceptUpload = async (version: ConfigurationVersion): Promise<ConfigurationVersion> => {
  const checked = await checkUpload(version);
  if (checked.status !== version.status) await uploadSettled(checked);
  return checked;
};

/** Creates the run of the upload and resumes runs that waited for it. Idempotent. */
export const uploadSettled = async (version: ConfigurationVersion): Promise<void> => {
  await Promise.all([queueUploaded(version), configurationSettled(version)]);
};
