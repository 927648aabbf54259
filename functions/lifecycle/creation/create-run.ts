import type { Granted } from '#api/permissions/granted.ts';
import { authorsOf, mayAllApply } from '#lifecycle/decisions/automatic-apply.ts';
import { newId } from '#platform/store/id.ts';
import { type ConfigurationVersion, checkUpload } from '#resources/configurations/records.ts';
import { freezeVariables } from '#resources/runs/inputs.ts';
import { getRun } from '#resources/runs/records.ts';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import { checkAdmitted, refusalIn } from '#resources/workspaces/admitted-runs.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import type { Run, RunOptions } from '#run/run.ts';
import { configurationSettled } from './fetching.ts';
import { freezeChecks } from './freeze-checks.ts';
import { completed, createRun, type FollowedMove } from './new-run.ts';

/** Creates runs for API requests, uploaded configurations and run triggers. */

/** Default options of a run. */
export const defaultOptions: Omit<RunOptions, 'autoApply'> = {
  message: 'Queued manually via the Terraform Enterprise API',
  isDestroy: false,
  refresh: true,
  refreshOnly: false,
  planOnly: false,
  savePlan: false,
  allowEmptyApply: false,
  allowConfigGeneration: false,
  debuggingMode: false,
  targetAddrs: null,
  replaceAddrs: null,
  variables: [],
};

export interface RunRequest {
  workspace: Workspace;
  version: ConfigurationVersion;
  options: Omit<RunOptions, 'autoApply'>;
  /** The run's own setting; missing: the workspace's. */
  autoApply?: boolean;
  createdBy: string;
  /** Permissions of the creator. */
  granted: Granted;
  source: string;
  sourceName?: string;
  /** The client renders Terraform's JSON UI lines; if absent, `source` decides. */
  rendersLogs?: boolean;
  terraformVersion?: string;
  /** Makes creation idempotent: the same id gives the same run. Missing: a new run each time. */
  id?: string;
  /** Of a request with an Idempotency-Key. */
  requestHash?: string;
  /** Queued by a run trigger: applies automatically if the workspace has auto-apply-run-trigger. */
  trigger?: Run['trigger'];
  /** Commit whose status includes this run. */
  commit?: Run['commit'];
  /** Upgrades the workspace to another version of its module. */
  moduleUpgrade?: Run['moduleUpgrade'];
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
 */
export const createFrom = async (request: RunRequest): Promise<Run> => {
  const { workspace, version, options, createdBy, granted, source, trigger, rendersLogs = true } = request;
  checkAdmitted(workspace);
  const id = request.id ?? newId('run');
  const planOnly = options.planOnly || version.speculative;
  const [inputsKey, checks] = await Promise.all([
    freezeVariables(workspace, id, options.variables),
    freezeChecks(workspace, {
      id,
      planOnly,
      targetAddrs: options.targetAddrs,
      fetching: version.status === 'pending' || version.status === 'fetching',
    }),
  ]);
  const appliesFor = authorsOf(createdBy, version, trigger);
  const wantsApply = trigger ? workspace.autoApplyRunTrigger : (request.autoApply ?? workspace.autoApply);
  const automatic =
    (wantsApply || options.allowEmptyApply) &&
    !planOnly &&
    !options.savePlan &&
    (await mayAllApply(appliesFor, { ...workspace, workspace }, trigger ? {} : { [createdBy]: granted }));
  // A retried run is part of its commit's status; a triggered run is not.
  const commit = request.commit ?? (trigger ? undefined : version.commit);
  return createRun(workspace.id, {
    ...options,
    planOnly,
    autoApply: automatic && wantsApply,
    ...(automatic ? { appliesFor } : {}),
    id,
    trigger,
    commit,
    move: request.move,
    ...(request.moduleUpgrade ? { moduleUpgrade: request.moduleUpgrade } : {}),
    ...(request.requestHash ? { requestHash: request.requestHash } : {}),
    configurationVersionId: version.id,
    archive: version.archive,
    ingress: version.ingress,
    createdBy,
    source,
    ...(request.sourceName ? { sourceName: request.sourceName } : {}),
    structuredOutput: workspace.structuredRunOutputEnabled && rendersLogs && drawsPlans(source, commit !== undefined),
    terraformVersion: request.terraformVersion ?? workspace.terraformVersion,
    inputsKey,
    ...checks,
  });
};

/** Creates the run of an uploaded configuration that has auto-queue-runs. */
const queueUploaded = async (version: ConfigurationVersion): Promise<Run | undefined> => {
  if (version.status !== 'uploaded' || !version.autoQueueRuns) return undefined;
  const workspace = await getWorkspace(version.workspaceId);
  if (!workspace || workspace.executionMode === 'local' || refusalIn(workspace)) return undefined;
  const granted = await grantsOfUser(version.createdBy).on({ organization: version.organization, workspace });
  return queueRun({
    workspace,
    version,
    options: { ...defaultOptions, message: 'Queued by a configuration upload', savePlan: version.provisional },
    createdBy: version.createdBy,
    granted,
    source: 'tfe-configuration-version',
    id: version.runId,
  });
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
