import { environment } from '#platform/environment.ts';
import { phaseSpan, traceparentOf } from '#platform/formats/trace-ids.ts';
import { objects } from '#platform/store/keys.ts';
import { keptStateContext, newDataKey } from '#platform/store/secrets.ts';
import { type Archive, getConfigurationVersion } from '#resources/configurations/records.ts';
import { frozenProviderSets } from '#resources/provider-sets/effective.ts';
import { openInputs } from '#resources/runs/inputs.ts';
import { recordPlanBasis } from '#resources/runs/saved-plans.ts';
import { stateTokenOf } from '#resources/runs/state-tokens.ts';
import { openSshKey } from '#resources/ssh-keys/records.ts';
import { stateChecksum } from '#resources/states/integrity.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { hexOf } from '#run/phase-report.ts';
import { type Job, maxEnclosedBytes } from '#run/protocols/runner.ts';
import { hasPlanRunner, organizationNameOf, type PhaseName, type Run } from '#run/run.ts';
import { identify } from '#runner/identity/identify.ts';
import { artifactUrls, downloadUrl, leftStateUrl } from './addresses.ts';
import { ProtocolError } from './caller.ts';

const mebibyte = 1024 * 1024;
const limits: Job['limits'] = {
  configurationBytes: 100 * mebibyte,
  unpackedBytes: 1024 * mebibyte,
  files: 50_000,
  logBytes: 50 * mebibyte,
};

/** How long the execution waits for a heartbeat before it gives up on its runner (infra/stack/lifecycle.ts). */
const silentSeconds = 60;

/** 1 read for a run that was created before its configuration was uploaded, else none. */
const archiveOfRun = async ({ archive, configurationVersionId: id }: Run): Promise<Archive> => {
  const stored = archive ?? (await getConfigurationVersion(id))?.archive;
  if (!stored) throw new Error(`configuration version ${id} has no content`);
  return stored;
};

/** Agents run on machines that outlive a runner, and cache providers themselves. */
const sharing = ({ agentPool }: Run): Pick<Job, 'sharedProviderHosts'> => {
  const { sharedProviderHosts } = environment;
  return agentPool || sharedProviderHosts.length === 0 ? {} : { sharedProviderHosts };
};

/** Presigned URLs, credentials and keys of the phase. */
const accessOf = async (
  run: Run,
  phase: PhaseName,
  {
    workspace,
    archive,
    variables,
  }: {
    workspace: Workspace | undefined;
    archive: Archive;
    variables: Job['variables'];
  },
) => {
  const state = run.query ? undefined : workspace?.state;
  const isApply = phase === 'apply';
  const { plan } = run.plan.report?.artifacts ?? {};
  // The plan's runner has the plan, and an initialized directory.
  const hasPlan = isApply && hasPlanRunner(run);
  const [configurationUrl, stateUrl, planUrl, uploadUrls, erroredStateUrl, keptStateKey, identity, sshKey] =
    await Promise.all([
      downloadUrl(archive.key),
      state ? downloadUrl(objects.state(run.workspaceId, state.id, state.sha256)) : null,
      isApply && !hasPlan ? downloadUrl(objects.artifact(run.id, 'plan', 'plan')) : null,
      artifactUrls(run.id, phase),
      isApply ? leftStateUrl(run) : null,
      isApply ? newDataKey(keptStateContext(run.id)) : null,
      workspace && identify(run, phase, workspace, variables),
      workspace?.sshKeyId && !hasPlan ? openSshKey(workspace.sshKeyId, run.organization) : undefined,
    ]);
  return {
    configurationUrl,
    stateUrl,
    planUrl,
    checksums: {
      configuration: `sha256:${archive.sha256}`,
      state: state && stateChecksum(state),
      plan: plan && `sha256:${hexOf(plan)}`,
    },
    uploadUrls,
    erroredStateUrl,
    keptStateKey,
    identity,
    sshKey,
  };
};

/**
 * Everything that a runner needs for one phase. The only function that sends sensitive values out of the control
 * plane.
 */
export const buildJob = async (run: Run, phase: PhaseName, token: string): Promise<Job> => {
  const [workspace, variables, archive] = await Promise.all([
    run.test ? undefined : getWorkspace(run.workspaceId),
    openInputs(run),
    archiveOfRun(run),
  ]);
  if (!workspace && !run.test) throw new ProtocolError(410, 'the workspace was deleted');
  if (phase === 'plan' && workspace) await recordPlanBasis(run, workspace);
  const [access, providerSets] = await Promise.all([
    accessOf(run, phase, { workspace, archive, variables }),
    phase === 'plan' ? frozenProviderSets(run.providerSetsKey) : {},
  ]);
  return {
    runId: run.id,
    phase,
    token,
    organization: organizationNameOf(run),
    workspace: { id: run.workspaceId, name: run.workspaceName, workingDirectory: run.workingDirectory },
    terraform: { engine: run.engine ?? environment.engine, version: run.terraformVersion },
    operation: operationOf(run),
    structuredOutput: run.structuredOutput || (workspace !== undefined && appliesWithTimes(run, phase, workspace)),
    // Only the command line needs the providers' schemas, to render the plan.
    ...(run.source === 'terraform+cloud' || run.assessment ? {} : { withoutSchemas: true as const }),
    stateToken: stateTokenOf(run.id, phase, token),
    ...access,
    enclosedBytes: maxEnclosedBytes,
    variables,
    ...providerSets,
    environment: { ...environmentOf(run), ...traceContext(run, phase) },
    ...sharing(run),
    heartbeatSeconds: environment.heartbeatSeconds,
    ...(run.agentPool ? { silentSeconds } : {}),
    limits,
  };
};

const operationOf = (run: Run): Job['operation'] => ({
  isDestroy: run.isDestroy,
  refresh: run.refresh,
  refreshOnly: run.refreshOnly,
  targetAddrs: run.targetAddrs ?? [],
  replaceAddrs: run.replaceAddrs ?? [],
  ...(run.invokeActionAddrs ? { invokeActionAddrs: run.invokeActionAddrs } : {}),
  allowConfigGeneration: run.allowConfigGeneration,
  debug: run.debuggingMode,
  ...(run.assessment ? { assesses: true } : {}),
  ...(run.test ? { tests: run.test } : {}),
  ...(run.query ? { queries: run.query } : {}),
});

/** Environment variables that tell Terraform and its providers where they run. */
const environmentOf = (run: Run): Record<string, string> => {
  const { id, workspaceName, test } = run;
  return test
    ? { TFC_RUN_ID: id }
    : {
        TFC_RUN_ID: id,
        TFC_WORKSPACE_NAME: workspaceName,
        TFC_WORKSPACE_SLUG: `${organizationNameOf(run)}/${workspaceName}`,
      };
};

/**
 * Programs of provisioners and providers can add their spans below the run's phase, and send them to a receiver of their
 * own: they get no address or header of the platform's (decisions/0232).
 */
const traceContext = ({ id }: Run, phase: PhaseName): Record<string, string> =>
  environment.otlpEndpoint ? { TRACEPARENT: traceparentOf(id, phaseSpan(phase)) } : {};

/**
 * JSON lines of an apply contain everything that its text does, and the start and end of each resource. JSON lines of
 * a plan have no diff (lifecycle/creation/create-run.ts selects the runs that get them). The remote backend, and old
 * command lines, print a log unchanged.
 */
const appliesWithTimes = (run: Run, phase: PhaseName, { structuredRunOutputEnabled }: Workspace): boolean =>
  phase === 'apply' && structuredRunOutputEnabled && !commandLines.includes(run.source);

const commandLines = ['terraform', 'terraform+cloud'];
