import { type Answer, accepted, created, ok } from '#api/answer.ts';
import { conflict, forbidden, nameTaken, unprocessable } from '#api/errors.ts';
import { inWorkspace, param } from '#api/finders.ts';
import { type Context, type Finder, type Route, route, type Subject } from '#api/route.ts';
import { queueRun } from '#lifecycle/creation/create-run.ts';
import { decide } from '#lifecycle/decisions/decisions.ts';
import { deleteWorkspace } from '#removal/workspaces.ts';
import { withPool } from '#resources/agents/pools/input.ts';
import type { InOrganization } from '#resources/organizations/finder.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { inProjectOf, type NewInOrganization } from '#resources/projects/finder.ts';
import { variablesOfSets } from '#resources/provider-sets/effective.ts';
import { addressOf } from '#resources/registry/modules/document.ts';
import { effectiveVariables } from '#resources/runs/inputs.ts';
import { getRun } from '#resources/runs/records.ts';
import { createVariable, listVariables, updateVariable, type VariableValues } from '#resources/variables/records.ts';
import { checkAdmitted } from '#resources/workspaces/admitted-runs.ts';
import { workspaceDocument } from '#resources/workspaces/document.ts';
import { checkNotDraining } from '#resources/workspaces/drain.ts';
import { startHealthTimer } from '#resources/workspaces/health-timer.ts';
import { readNewWorkspace } from '#resources/workspaces/input.ts';
import { createWorkspace, getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { generatedConfiguration, storeConfiguration } from './configuration.ts';
import { upgradeDocument } from './document.ts';
import { checkUpgrade, checkWorkspaceSettings, readModuleVariables } from './input.ts';
import { getNoCodeModule, moduleOf, type NoCodeModule } from './records.ts';
import type { Release } from './release.ts';
import { currentRelease } from './versions.ts';

/** Creates workspaces from modules, and upgrades them to other versions (HCP API: no-code provisioning). */

interface NewWorkspaceOfModule extends NewInOrganization {
  noCode: NoCodeModule;
}

/** The caller needs permission on the new workspace's project, which the body names. */
const newOfModule: Finder<NewWorkspaceOfModule> = {
  ...inProjectOf('project', ['projects'], ({ defaultProjectId }) => defaultProjectId),
  what: 'no-code module',
  parameter: 'noCode',
  find: async (request) => {
    const noCode = await getNoCodeModule(param(request, 'noCode'));
    if (!noCode) return undefined;
    const params = { ...request.params, organization: noCode.organization };
    const home = await inProjectOf('project', ['projects'], ({ defaultProjectId }) => defaultProjectId).find({
      ...request,
      params,
    });
    return home && { ...home, noCode };
  },
  visibleWith: 'registry:read',
};

/** @throws {ApiError} 409 or 422 */
const releaseFor = async (noCode: NoCodeModule) => {
  const module = await moduleOf(noCode);
  if (!noCode.enabled) {
    throw conflict(
      `No-code provisioning of ${addressOf(module)} is disabled; set enabled of ${noCode.id} to true first.`,
    );
  }
  const release = await currentRelease(module, noCode);
  if (!release) {
    throw unprocessable('/data', `${addressOf(module)} has no published version ${noCode.versionPin ?? ''}`.trim());
  }
  return { module, release };
};

/** Adds the variables that provider sets refer to, because the workspace needs them too. */
const withVariables = (release: Release, names: string[]): Release => {
  const { inputs } = release.root;
  const unknown = names.filter((name) => !inputs.some((input) => input.name === name));
  const declared = unknown.map((name) => ({ name, type: 'any', description: '', default: '', required: false }));
  return { ...release, root: { ...release.root, inputs: [...inputs, ...declared] } };
};

/** Inputs without a default need a value, from the request or a variable set. @throws {ApiError} 422 */
const checkRequired = async (
  { root }: Release,
  variables: Pick<VariableValues, 'key' | 'category'>[],
  home: Pick<Workspace, 'id' | 'organization' | 'projectId'>,
): Promise<void> => {
  const named = (list: Pick<VariableValues, 'key' | 'category'>[]) => (name: string) =>
    list.some(({ key, category }) => key === (category === 'env' ? `TF_VAR_${name}` : name));
  const open = root.inputs.filter(({ name, required }) => required && !named(variables)(name));
  if (open.length === 0) return;
  const inherited = (await effectiveVariables(home)).map(({ variable: { key, category } }) => ({ key, category }));
  const missing = open.filter(({ name }) => !named(inherited as typeof variables)(name)).map(({ name }) => name);
  if (missing.length === 0) return;
  throw unprocessable('/data/relationships/vars', `vars: the module needs values for ${missing.join(', ')}`);
};

const create = async (context: Context<NewWorkspaceOfModule>): Promise<Answer> => {
  const { request, subject, principal, granted } = context;
  const { noCode, record } = subject;
  if (!granted.has('variable:write') || !granted.has('run:apply')) {
    throw forbidden(
      'Creating a workspace from a module also needs the permissions variable:write and run:apply in the project.',
    );
  }
  checkWorkspaceSettings(request);
  const settings = await readNewWorkspace(request, record);
  const { module, release } = await releaseFor(noCode);
  const declared = withVariables(release, await variablesOfSets(record, { ...settings, id: 'none' }));
  const variables = readModuleVariables(request, declared, noCode.options);
  if (settings.executionMode === 'local') {
    throw unprocessable(
      '/data/attributes/execution-mode',
      'execution-mode: must be remote or agent, because local workspaces have no runs on this platform',
    );
  }
  checkAdmitted({ ...settings, organization: record.name });
  await checkNotDraining();
  await checkRequired(release, variables, { ...settings, id: 'none' });
  const sourceModule = {
    noCodeId: noCode.id,
    address: `${module.registry}/${addressOf(module)}`,
    version: release.version,
  };
  const workspace = await withPool(() => createWorkspace({ ...settings, sourceModule }));
  if (!workspace) throw nameTaken();
  if (record.assessmentsEnforced) await startHealthTimer(workspace.id);
  try {
    for (const values of variables) await createVariable(workspace.id, values);
    await firstRun(workspace, generatedConfiguration(module, release), sourceModule.version, principal.userId, context);
  } catch (error) {
    // Removes the incomplete workspace, which would run with only some of its values.
    await deleteWorkspace(workspace, { by: principal.userId, force: true });
    throw error;
  }
  const current = (await getWorkspace(workspace.id)) ?? workspace;
  const shown = await principal.on({ organization: subject.organization, workspace: current });
  return created(workspaceDocument(current, shown));
};

const firstRun = async (
  workspace: Workspace,
  text: string,
  version: string,
  createdBy: string,
  { principal }: Context<InOrganization>,
): Promise<Run> =>
  queueRun({
    workspace,
    version: await storeConfiguration(workspace, text, { createdBy, provisional: false }),
    message: `Created from version ${version} of its module`,
    createdBy,
    granted: await principal.on({ organization: workspace.organization, workspace }),
    source: 'tfe-module',
  });

interface OfModule extends Subject {
  workspaceId: string;
  workspace: Workspace;
  noCode: NoCodeModule;
  run?: Run;
}

const madeOfModule: Finder<OfModule> = {
  what: 'workspace',
  parameter: 'workspace',
  find: async (request) => {
    const [noCode, workspace] = await Promise.all([
      getNoCodeModule(param(request, 'noCode')),
      getWorkspace(param(request, 'workspace')),
    ]);
    if (!noCode || workspace?.sourceModule?.noCodeId !== noCode.id) return undefined;
    return { organization: workspace.organization, workspaceId: workspace.id, workspace, noCode };
  },
  ...inWorkspace,
};

const upgradeRun: Finder<OfModule> = {
  ...madeOfModule,
  what: 'upgrade',
  parameter: 'run',
  find: async (request) => {
    const target = await madeOfModule.find(request);
    const run = target && (await getRun(param(request, 'run')));
    return run?.moduleUpgrade && run.workspaceId === target?.workspaceId ? { ...target, run } : undefined;
  },
};

/** The workspace's own variables, overridden by those of the request. */
const setVariables = async (workspaceId: string, variables: VariableValues[]): Promise<void> => {
  const existing = await listVariables(workspaceId);
  for (const values of variables) {
    const current = existing.find(({ key, category }) => key === values.key && category === values.category);
    if (!current) await createVariable(workspaceId, values);
    // A sensitive variable stays sensitive.
    else await updateVariable(current, { ...values, sensitive: values.sensitive || current.sensitive });
  }
};

const notNeeded = (workspace: Workspace, version: string): Answer =>
  ok({
    id: workspace.id,
    type: 'workspace-upgrade',
    attributes: {
      status: null,
      'plan-url': null,
      message: `Workspace ${workspace.name} already has version ${version} of its module.`,
    },
  });

const upgrade = async (context: Context<OfModule>): Promise<Answer> => {
  const { request, subject, principal, granted } = context;
  const { workspace, noCode } = subject;
  checkUpgrade(request);
  checkAdmitted(subject.workspace);
  await checkNotDraining();
  const { module, release } = await releaseFor(noCode);
  const home = await getOrganization(workspace.organization);
  const declared = withVariables(release, await variablesOfSets(home, workspace));
  const variables = readModuleVariables(request, declared, noCode.options);
  if (variables.length > 0 && !granted.has('variable:write')) {
    throw forbidden('vars: setting variables with an upgrade needs the permission variable:write.');
  }
  if (release.version === workspace.sourceModule?.version && variables.length === 0) {
    return notNeeded(workspace, release.version);
  }
  await checkRequired(release, variables, workspace);
  await setVariables(workspace.id, variables);
  const createdBy = principal.userId;
  const text = generatedConfiguration(module, release);
  const run = await queueRun({
    workspace,
    version: await storeConfiguration(workspace, text, { createdBy, provisional: true }),
    message: `Upgrade of the module to version ${release.version}`,
    // The upgrade is planned first, and waits for a confirmation.
    autoApply: false,
    createdBy,
    granted,
    source: 'tfe-module',
    moduleUpgrade: { version: release.version },
  });
  return created(upgradeDocument(run, workspace, request.baseUrl));
};

const showUpgrade = async ({ request, subject }: Context<OfModule>): Promise<Answer> =>
  ok(upgradeDocument(subject.run as Run, subject.workspace, request.baseUrl));

const confirmUpgrade = async ({ subject, principal }: Context<OfModule>): Promise<Answer> => {
  const run = subject.run as Run;
  if ((await decide(run, 'apply', principal.userId)) === 'accepted') return accepted();
  throw conflict(`Run ${run.id} is ${run.status} and cannot be confirmed now.`, 'transition not allowed');
};

const workspaces = '/no-code-modules/{noCode}/workspaces';
const upgrades = `${workspaces}/{workspace}/upgrade` as const;

export const noCodeWorkspaceRoutes: Route[] = [
  route('POST', workspaces, 'workspace:create', newOfModule, create),
  route('POST', upgrades, 'run:apply', madeOfModule, upgrade),
  route('GET', `${upgrades}/{run}`, 'run:read', upgradeRun, showUpgrade),
  route('POST', `${upgrades}/{run}`, 'run:apply', upgradeRun, confirmUpgrade),
];
