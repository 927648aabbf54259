import type { TaskResult } from '#resources/run-tasks/results.ts';
import { type Api, ref, uniqueName } from './api.ts';
import { memberHelpers } from './members.ts';
import { policyResultIds, policyThings } from './policies.ts';
import { stateFile } from './state.ts';
import { taskHelpers } from './task-stages.ts';

/** One resource of each kind in an organization, for tests that walk all routes. */

/** Parts of a run, by path parameter. */
const ofRun = async (api: Api, workspaceId: string, organization: string) => {
  const help = await taskHelpers();
  const { keepOutcomes } = await import('#resources/run-tasks/outcomes.ts');
  const { changeTaskResult, getTaskResult } = await import('#resources/run-tasks/results.ts');
  const { updateRun } = await import('#resources/runs/records.ts');
  const { newCostEstimate } = await import('#run/cost-estimate.ts');
  const run = (await api.post('runs', {}, { workspace: ref('workspaces', workspaceId) })).body.data;
  const comment = (await api.post(`runs/${run.id}/comments`, { body: 'hm' })).body.data;
  const task = await help.task({}, organization);
  const stages = await help.stageOf(run.id, task.id);
  const result = (await getTaskResult(stages.result)) as TaskResult;
  const outcome = { outcomeId: 'o', description: 'd', body: 'b', url: null, tags: [] };
  await changeTaskResult(result, 'running', (await keepOutcomes(result, [outcome])) as { outcomesKey: string });
  const costEstimate = newCostEstimate({ targetAddrs: null }, new Date().toISOString());
  await updateRun(run.id, { set: { costEstimate, 'checks.policyCheck': true, 'checks.policyEvaluation': true } });
  return {
    run: run.id,
    plan: run.relationships.plan.data.id,
    apply: run.relationships.apply.data.id,
    estimate: run.id.replace('run-', 'ce-'),
    comment: comment.id,
    event: comment.relationships['run-event'].data.id,
    task: task.id,
    wstask: (await api.get(`workspaces/${workspaceId}/tasks`)).body.data[0].id,
    result: result.id,
    outcome: (await api.get(`task-results/${result.id}/outcomes`)).body.data[0].id,
    ...(await policyResultIds(run.id)),
    stage: stages.stage,
  };
};

const stateOf = async (api: Api, workspaceId: string) => {
  await api.call('POST', `workspaces/${workspaceId}/actions/lock`);
  const { text, ...attributes } = stateFile({ outputs: { a: { value: 1, type: 'number' } } });
  const state = Buffer.from(text).toString('base64');
  const version = (await api.post(`workspaces/${workspaceId}/state-versions`, { ...attributes, state })).body.data;
  await api.call('POST', `workspaces/${workspaceId}/actions/unlock`);
  return { id: version.id, output: version.relationships.outputs.data[0].id };
};

/** A finished assessment. */
const assessmentOf = async (workspaceId: string, organization: string) => {
  const { newId } = await import('#platform/store/id.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { create } = await import('#platform/store/table.ts');
  const id = newId('run');
  const at = new Date().toISOString();
  const report = {
    outcome: 'finished',
    health: { resourcesDrifted: 0 },
    artifacts: { 'plan-json': 'sha', 'plan-json-redacted': 'sha' },
  };
  await create({
    ...keys.run(id),
    ...{ id, workspaceId, organization, createdAt: at, logSecret: 'of the world', assessment: { stateId: '' } },
    ...{ status: 'planned_and_finished', statusTimestamps: { 'planned-and-finished-at': at } },
    plan: { status: 'finished', statusTimestamps: { 'finished-at': at }, report },
    apply: { status: 'unreachable', statusTimestamps: {} },
  });
  return { assessment: id.replace('run-', 'asmt-'), assessmentResult: id.replace('run-', 'asmtres-') };
};

const planExportOf = async (workspaceId: string, organization: string): Promise<string> => {
  const { newId } = await import('#platform/store/id.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { create } = await import('#platform/store/table.ts');
  const id = newId('pe');
  const values = { id, organization, workspaceId, runId: newId('run'), createdAt: new Date().toISOString() };
  await create({ ...keys.planExport(id), ...values });
  return id;
};

/** Only operators can add it. */
const toolVersion = async (api: Api, tool: string): Promise<string> => {
  const version = `0.0.${uniqueName('').replace(/\D/g, '')}`;
  const build = { version, url: 'https://x.test/tool', sha: 'a'.repeat(64) };
  return (await api.post(`admin/${tool}-versions`, build)).body.data?.id ?? 'tool-unknown';
};

const banner = { title: 't', body: 'b', style: 'info', audience: 'authenticated_only' };

/** Without an agent pool, so that it restricts no requests. */
const ipAllowlistOf = async (api: Api, organization: string) => {
  const path = `organizations/${organization}/cidr-range-lists`;
  const { id } = (await api.post(path, { name: uniqueName('list') })).body.data;
  const range = await api.post(`cidr-range-lists/${id}/relationships/cidr-ranges`, { range: '203.0.113.0/24' });
  return { cidrRangeList: id as string, cidrRange: range.body.data.id as string };
};

/** A test run, a query run, and a no-code module from which the workspace was created and which its run upgrades. */
const hiddenThings = async (things: Record<string, string>) => {
  const { workspace = '', module: moduleId = '', run = '', organization = '' } = things;
  const { newId } = await import('#platform/store/id.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { create, update } = await import('#platform/store/table.ts');
  const { createNoCodeModule } = await import('#features/no-code/records.ts');
  const { changeModule, getModule } = await import('#resources/registry/modules/records.ts');
  const module = await getModule(moduleId);
  const tested = module && (await changeModule(module, { tests: { enabled: true } }));
  const noCode = tested && (await createNoCodeModule(tested, { enabled: true, options: [] }));
  if (!noCode) throw new Error('no no-code module');
  const sourceModule = { noCodeId: noCode.id, address: 'private/w', version: '0.9.0' };
  await update(keys.workspace(workspace), { set: { sourceModule } });
  await update(keys.run(run), { set: { moduleUpgrade: { version: '1.0.0' } } });
  const at = new Date().toISOString();
  const hidden = async (what: object, workspaceId: string): Promise<string> => {
    const id = newId('run');
    await create({
      ...keys.run(id),
      ...{ id, organization, workspaceId, createdAt: at, createdBy: things.user, logSecret: 'of the world' },
      ...{ status: 'planned_and_finished', statusTimestamps: { 'planned-and-finished-at': at }, variables: [] },
      ...{ configurationVersionId: things['configuration-versions'], source: 'tfe-api', terraformVersion: 'latest' },
      plan: { status: 'finished', statusTimestamps: {} },
      apply: { status: 'unreachable', statusTimestamps: {} },
      ...what,
    });
    return id;
  };
  const { createVariable } = await import('#resources/variables/records.ts');
  const values = { key: 'A', value: '1', category: 'env', hcl: false, sensitive: false, description: null } as const;
  const ofTests = await createVariable(moduleId, values);
  const test = { moduleId, filters: [], directory: 'tests', verbose: false };
  return {
    noCode: noCode.id,
    'variable of the tests': ofTests?.id ?? '',
    testRun: (await hidden({ test }, moduleId)).replace('run-', 'trun-'),
    query: (await hidden({ query: { generatesConfiguration: false } }, workspace)).replace('run-', 'query-'),
  };
};

/** Policies that keep all data, of a workspace and of its organization. */
const keepData = async (api: Api, workspaceId: string, organization: string): Promise<void> => {
  const body = { data: { type: 'data-retention-policy-dont-deletes' } };
  for (const owner of [`workspaces/${workspaceId}`, `organizations/${organization}`]) {
    await api.call('POST', `${owner}/relationships/data-retention-policy`, { body });
  }
};

const changeRequestOf = async (api: Api, workspaceId: string, organization: string): Promise<string> => {
  const action = { action_type: 'change_requests', action_inputs: { subject: 's' }, target_ids: [workspaceId] };
  await api.post(`organizations/${organization}/explorer/bulk-actions`, action);
  return (await api.get(`workspaces/${workspaceId}/change-requests`)).body.data[0].id;
};

const viewOf = async (api: Api, organization: string): Promise<string> => {
  const attributes = { name: 'v', query: { type: 'workspaces' } };
  return (await api.post(`organizations/${organization}/explorer/views`, attributes)).body.data.id;
};

/** A provider set that applies to the workspace. */
const providerSetOf = async (api: Api, organization: string, workspace: string) => {
  const name = uniqueName('providers');
  const attributes = {
    name,
    'provider-source': 'hashicorp/null',
    'configuration-hcl': 'provider "null" {}',
  };
  const applied = { workspaces: { data: [{ type: 'workspaces', id: workspace }] } };
  const { body } = await api.post(`organizations/${organization}/provider-sets`, attributes, applied);
  return { providerSet: body.data.id as string, providerSetName: name };
};

/** A recently deleted workspace. */
const recoverableOf = async (api: Api, organization: string, project: string): Promise<string> => {
  const home = { project: ref('projects', project) };
  const name = uniqueName('deleted');
  const { id } = (await api.post(`organizations/${organization}/workspaces`, { name }, home)).body.data;
  await api.call('DELETE', `workspaces/${id}`);
  return id.replace('ws-', 'ri-');
};

/** A connection with a token, whose forge is never called. */
const connectionOf = async (organization: string) => {
  const { createClient, keepToken } = await import('#version-control/connections.ts');
  const urls = { httpUrl: 'https://github.example', apiUrl: 'https://api.github.example' };
  const settings = { name: 'w', serviceProvider: 'github', dialect: 'github', key: null, rsaPublicKey: null } as const;
  const client = await createClient(organization, { ...settings, ...urls, organizationScoped: true });
  const token = await keepToken(client, { token: 'of the world' }, { id: '1', name: 'w' });
  const { derivedId } = await import('#platform/store/id.ts');
  const { linkInstallation } = await import('#version-control/github-app/installations.ts');
  const installation = derivedId('ghain', organization);
  const account = { id: '1', login: 'w', type: 'Organization', iconUrl: null };
  await linkInstallation({ id: installation, installationId: 1, account, url: null }, organization, 'user-x');
  return { oauthClient: client.id, oauthToken: token.id, installation };
};

/** One for each organization. */
const scimConfigurationOf = async (api: Api, organization: string): Promise<string> => {
  const path = `organizations/${organization}/scim-configuration`;
  await api.post(path);
  return (await api.get(path)).body.data?.id ?? 'scimconf-unknown';
};

/** Id of a tag of the workspace. */
const tagOf = async (api: Api, workspaceId: string): Promise<string> => {
  const path = `workspaces/${workspaceId}/relationships/tags`;
  await api.call('POST', path, { body: { data: [{ type: 'tags', attributes: { name: 'tagged' } }] } });
  return (await api.get(path)).body.data[0].id;
};

/** A module and a provider, each with a version. */
const registryThings = async (organization: string) => {
  const modules = await import('#resources/registry/modules/records.ts');
  const providers = await import('#resources/registry/providers/records.ts');
  const { createGpgKey } = await import('#resources/registry/providers/gpg-keys.ts');
  const address = { organization, namespace: organization, registry: 'private' as const };
  const module = await modules.createModule({ ...address, name: uniqueName('module'), provider: 'null' });
  const provider = await providers.createProvider({ ...address, name: uniqueName('provider') });
  if (!module || !provider) throw new Error(`no registry in ${organization}`);
  const moduleVersion = await modules.createModuleVersion(module, '1.0.0', undefined);
  const keyId = Array.from({ length: 16 }, () => '0123456789ABCDEF'[Math.floor(Math.random() * 16)]).join('');
  await createGpgKey(organization, keyId, 'armor');
  const values = { version: '1.0.0', keyId, protocols: ['5.0'] };
  const providerVersion = await providers.createProviderVersion(provider.id, values);
  if (!moduleVersion || !providerVersion) throw new Error('no version');
  const file = { os: 'linux', arch: 'amd64', filename: 'p.zip', shasum: '0'.repeat(64) };
  const platform = await providers.createPlatform(providerVersion, file);
  return {
    registry: 'private',
    namespace: organization,
    module: module.id,
    moduleName: module.name,
    moduleProvider: module.provider,
    moduleVersion: moduleVersion.version,
    'module version': moduleVersion.id,
    provider: provider.id,
    providerName: provider.name,
    providerVersion: providerVersion.version,
    'provider version': providerVersion.id,
    platform: platform?.id ?? '',
    os: file.os,
    arch: file.arch,
    keyId,
  };
};

/** A workspace in a project of its own, with one of everything. Ids by path parameter. */
export const makeWorld = async (api: Api, organization = 'acme') => {
  const members = await memberHelpers();
  const { registerAgent } = await import('#resources/agents/agents.ts');
  const created = await api.post(`organizations/${organization}/projects`, { name: uniqueName('World') });
  // Checked here, because the fuzzer creates many worlds in one organization, which its requests change.
  if (created.status !== 201) throw new Error(`no project in ${organization}: ${JSON.stringify(created)}`);
  const project = created.body.data.id;
  const name = uniqueName('world');
  const relationships = { project: ref('projects', project) };
  const workspace = (await api.post(`organizations/${organization}/workspaces`, { name }, relationships)).body.data.id;
  const source = (await api.post(`organizations/${organization}/workspaces`, { name: uniqueName('source') })).body.data
    .id;
  const version = await api.configuration(workspace);
  const state = await stateOf(api, workspace);
  const applied = { workspaces: { data: [{ type: 'workspaces', id: workspace }] } };
  const varset = (await api.post(`organizations/${organization}/varsets`, { name: uniqueName('set') }, applied)).body
    .data.id;
  const variable = { key: 'a', value: 'b', category: 'terraform' };
  const ofSet = (await api.post(`varsets/${varset}/relationships/vars`, variable)).body.data.id;
  const ofWorkspace = (await api.post(`workspaces/${workspace}/vars`, variable)).body.data.id;
  const visible = { name: uniqueName('visible'), visibility: 'organization' };
  const team = (await api.post(`organizations/${organization}/teams`, visible)).body.data.id;
  const member = await members.member(organization);
  const [membership] = (await api.get('organization-memberships', { token: member.token })).body.data;
  const trigger = { sourceable: ref('workspaces', source) };
  const access = { team: ref('teams', team) };
  const givenOn = async (type: string, on: object) =>
    (await api.post(type, { access: 'read' }, { ...access, ...on })).body.data.id as string;
  await keepData(api, workspace, organization);
  const notification = { name: 'n', 'destination-type': 'generic', url: 'https://example.test/' };
  const pool = (await api.post(`organizations/${organization}/agent-pools`, { name: uniqueName('pool') })).body.data.id;
  const things: Record<string, string> = {
    // Replaced before the organization, whose name it contains.
    subscription: `sub-${organization}`,
    organization,
    pool,
    agent: (await registerAgent({ id: pool, organization }, { instance: 'i', name: 'a', address: null })).id,
    project,
    workspace,
    name,
    varset,
    variable: ofWorkspace,
    'variable of the set': ofSet,
    team,
    membership: membership.id,
    trigger: (await api.post(`workspaces/${workspace}/run-triggers`, {}, trigger)).body.data.id,
    notification: (await api.post(`workspaces/${workspace}/notification-configurations`, notification)).body.data.id,
    output: state.output,
    ...(await providerSetOf(api, organization, workspace)),
    recoverableItem: await recoverableOf(api, organization, project),
    user: member.id,
    sshKey: (await api.post(`organizations/${organization}/ssh-keys`, { name: 'k', value: 'private' })).body.data.id,
    reservedTagKey: (await api.post(`organizations/${organization}/reserved-tag-keys`, { key: uniqueName('key') })).body
      .data.id,
    ...(await ipAllowlistOf(api, organization)),
    scimConfiguration: await scimConfigurationOf(api, organization),
    banner: (await api.post('admin/banners', banner)).body.data?.id ?? 'ab-unknown',
    'opa-versions': await toolVersion(api, 'opa'),
    'sentinel-versions': await toolVersion(api, 'sentinel'),
    tag: await tagOf(api, workspace),
    token: 'at-unknown',
    view: await viewOf(api, organization),
    planExport: await planExportOf(workspace, organization),
    changeRequest: await changeRequestOf(api, workspace, organization),
    ...(await assessmentOf(workspace, organization)),
    ...(await registryThings(organization)),
    ...(await policyThings(api, organization)),
    ...(await connectionOf(organization)),
    ...(await ofRun(api, workspace, organization)),
    'configuration-versions': version.id,
    'state-versions': state.id,
    'team-workspaces': await givenOn('team-workspaces', { workspace: ref('workspaces', workspace) }),
    'team-projects': await givenOn('team-projects', { project: ref('projects', project) }),
  };
  return { ...things, ...(await hiddenThings(things)) } as Record<string, string>;
};

export type World = Awaited<ReturnType<typeof makeWorld>>;

/** The path with the world's ids; a parameter whose kind depends on the preceding part is named after it. */
export const fillPath = (path: string, world: World): string =>
  path
    .replace(/(\/tests\/.*)\{variable\}/, (_, before: string) => `${before}${world['variable of the tests']}`)
    .replace(/(varsets\/.*)\{variable\}/, (_, before: string) => `${before}${world['variable of the set']}`)
    .replace(/([\w-]+)\/\{(version|grant)\}/, (_, kind: string) => `${kind}/${world[kind]}`)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(world[name] ?? 'unknown'));

/** A body and a query with ids, for routes whose subject is in them. */
export const namedIn = ({
  workspace = '',
  project = '',
  organization = '',
  name = '',
  namespace = '',
  plan = '',
}: Record<string, string>) => ({
  body: {
    data: {
      attributes: { namespace },
      relationships: {
        workspace: ref('workspaces', workspace),
        project: ref('projects', project),
        plan: ref('plans', plan),
      },
    },
  },
  query: new URLSearchParams({
    'filter[organization][name]': organization,
    'filter[workspace][name]': name,
    'filter[workspace][id]': workspace,
    'filter[project][id]': project,
    workspace_id: workspace,
  }).toString(),
});

/** The body for a route with that path. */
export const bodyIn = (path: string, things: Record<string, string>): object =>
  path.includes('/tags/')
    ? { data: [ref('workspaces', things.workspace ?? '').data] }
    : path === '/api/v2/oauth-clients'
      ? { data: { attributes: { 'organization-id': things.organization } } }
      : path === '/api/v2/registry-modules'
        ? { data: { attributes: { 'vcs-repo': { 'oauth-token-id': things.oauthToken } } } }
        : namedIn(things).body;
