import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskResult } from '../../functions/store/run-tasks/task-results.ts';
import { type Answered, type Api, startApi } from '../support/api.ts';
import { memberHelpers } from '../support/members.ts';
import { policyResultsOf, policyThings } from '../support/policies.ts';
import { stateFile } from '../support/state.ts';
import { taskHelpers } from '../support/task-stages.ts';

/** Rules that hold for every route: who may come in, and what is said about things that are not there. */

let api: Api;
let routes: typeof import('../../functions/api/routes/index.ts')['routes'];
let help: Awaited<ReturnType<typeof taskHelpers>>;
let keepOutcomes: typeof import('../../functions/store/run-tasks/task-outcomes.ts')['keepOutcomes'];
let changeTaskResult: typeof import('../../functions/store/run-tasks/task-results.ts')['changeTaskResult'];
let getTaskResult: typeof import('../../functions/store/run-tasks/task-results.ts')['getTaskResult'];
let members: Awaited<ReturnType<typeof memberHelpers>>;

beforeAll(async () => {
  api = await startApi();
  ({ routes } = await import('../../functions/api/routes/index.ts'));
  members = await memberHelpers();
  help = await taskHelpers();
  ({ keepOutcomes } = await import('../../functions/store/run-tasks/task-outcomes.ts'));
  ({ changeTaskResult, getTaskResult } = await import('../../functions/store/run-tasks/task-results.ts'));
});
afterAll(() => api.close());

const guarded = () => routes.filter(({ access }) => access !== 'anyone');
const onSubject = () => guarded().filter(({ access }) => access !== 'any user');

/** One error, in the form clients read. */
const error = ({ body, headers }: Answered) => {
  expect(headers['content-type']).toBe('application/vnd.api+json');
  expect(body.errors).toHaveLength(1);
  expect(typeof body.errors[0].status).toBe('string');
  return body.errors[0];
};

/** A body that names things which do not exist, where a route finds its subject in there. */
const body = { data: { relationships: { workspace: { data: { type: 'workspaces', id: 'ws-unknown' } } } } };
const query = '?filter[organization][name]=acme&filter[workspace][name]=unknown&workspace_id=ws-unknown';

it('has each method and path once', () => {
  const all = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
  expect(new Set(all).size).toBe(all.length);
});

it('lets nobody in without a valid token', async () => {
  const { token: deleted } = await members.somebody('deleted');
  const { deleteToken, findToken } = await import('../../functions/store/access/tokens.ts');
  const token = await findToken(deleted);
  await deleteToken(token?.userId ?? '', token?.id ?? '');
  for (const bad of [null, '', 'garbage', 'sfu_unknown', deleted]) {
    for (const { method, path } of guarded()) {
      const answer = await api.call(method, path.replaceAll(/\{\w+\}/g, 'x') + query, { token: bad, body });
      expect([path, answer.status, error(answer).status]).toEqual([path, 401, '401']);
    }
  }
});

it('takes no token that has expired', async () => {
  const { createToken } = await import('../../functions/store/access/tokens.ts');
  const { secret } = await createToken(api.userId, '', new Date(Date.now() - 1).toISOString());
  expect((await api.get('account/details', { token: secret })).status).toBe(401);
});

it.each(['unknown', 'run-unknown', '../..', '%00', 'x'.repeat(3000), '__proto__'])(
  'answers 404 for %j in place of any id or name',
  async (id) => {
    for (const { method, path } of onSubject()) {
      const answer = await api.call(method, path.replaceAll(/\{\w+\}/g, id) + query, { body });
      expect([path, answer.status]).toEqual([path, 404]);
      error(answer);
    }
  },
);

describe('what strangers see', () => {
  /** Something of each kind in the organization, by path parameter. */
  const things = async () => {
    const workspace = await api.workspace();
    const project = await api.post('organizations/acme/projects', { name: `Project ${workspace.id.slice(-8)}` });
    const version = await api.configuration(workspace.id);
    const varset = (await api.post('organizations/acme/varsets', { name: `set of ${workspace.id}` })).body.data;
    const policies = await policyThings(api);
    const relationships = { workspace: { data: { type: 'workspaces', id: workspace.id } } };
    const run = (await api.post('runs', {}, relationships)).body.data;
    const comment = (await api.post(`runs/${run.id}/comments`, { body: 'hm' })).body.data;
    await api.call('POST', `workspaces/${workspace.id}/actions/force-unlock`);
    const other = await api.workspace();
    const sourceable = { data: { type: 'workspaces', id: other.id } };
    const trigger = (await api.post(`workspaces/${workspace.id}/run-triggers`, {}, { sourceable })).body.data;
    await api.call('POST', `workspaces/${other.id}/actions/lock`);
    const { text, ...given } = stateFile({ outputs: { a: { value: 1, type: 'number' } } });
    const state = Buffer.from(text).toString('base64');
    const stateVersion = (await api.post(`workspaces/${other.id}/state-versions`, { ...given, state })).body.data;
    const task = await help.task();
    const stages = await help.stageOf(run.id, task.id);
    const result = (await getTaskResult(stages.result)) as TaskResult;
    const outcome = { outcomeId: 'o', description: 'd', body: 'b', url: null, tags: [] };
    await changeTaskResult(result, 'running', (await keepOutcomes(result, [outcome])) as { outcomesKey: string });
    const outcomes = (await api.get(`task-results/${result.id}/outcomes`)).body.data;
    return {
      task: task.id,
      wstask: (await api.get(`workspaces/${workspace.id}/tasks`)).body.data[0].id,
      ...stages,
      outcome: outcomes[0].id,
      organization: 'acme',
      name: workspace.attributes.name,
      workspace: workspace.id,
      project: project.body.data.id,
      run: run.id,
      varset: varset.id,
      trigger: trigger.id,
      ...policies,
      ...(await policyResultsOf(run.id)),
      comment: comment.id,
      event: comment.relationships['run-event'].data.id,
      plan: run.relationships.plan.data.id,
      apply: run.relationships.apply.data.id,
      output: stateVersion.relationships.outputs.data[0].id,
      versions: { 'configuration-versions': version.id, 'state-versions': stateVersion.id },
      body: { data: { relationships } },
    };
  };

  const fill = (path: string, made: Awaited<ReturnType<typeof things>>) =>
    path
      .replace(/(configuration-versions|state-versions)\/\{version\}/, (_, kind: keyof typeof made.versions) => {
        return `${kind}/${made.versions[kind]}`;
      })
      .replaceAll(/\{(\w+)\}/g, (_, name: string) => String((made as unknown as Record<string, string>)[name]));

  it('is nothing: 404 for all there is, whatever they send', async () => {
    const made = await things();
    const strangers = [(await members.somebody('stranger')).token, (await members.owner('elsewhere')).token];
    const search = `?filter[organization][name]=acme&filter[workspace][name]=${made.name}&workspace_id=${made.workspace}`;
    for (const token of strangers) {
      for (const { method, path } of onSubject()) {
        const answer = await api.call(method, fill(path, made) + search, { token, body: made.body });
        expect([method, path, answer.status]).toEqual([method, path, 404]);
      }
    }
  });

  it('is 403 for what they may see but not do, as the permissions say', async () => {
    const made = await things();
    const { onWorkspace } = await import('../../functions/api/granted.ts');
    const { token, team } = await members.withFlags('acme', 'read-workspaces', 'read-projects');
    const granted = onWorkspace({ role: 'member', teams: [team] }, undefined, undefined);
    const refused = onSubject().filter(({ access, path }) => !granted.has(access as never) && !path.includes('polic'));
    expect(refused.length).toBeGreaterThan(20);
    for (const { method, path, access } of refused) {
      const answer = await api.call(method, fill(path, made), { token, body: made.body });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
      expect(error(answer).detail).toContain(access);
    }
    const { data } = (await api.get(`workspaces/${made.workspace}`, { token })).body;
    expect(data.attributes.permissions).toMatchObject({
      'can-read-run': true,
      'can-queue-run': false,
      'can-update': false,
      'can-lock': false,
    });
  });
});

it('answers 404 for what is no route, with the standard headers', async () => {
  const below = ['nothing', 'organizations/acme/nothing', 'policies/x/nothing', 'varsets'];
  for (const path of ['/', '/api/v2', ...below.map((rest) => `/api/v2/${rest}`)]) {
    const answer = await api.call('GET', path);
    expect(answer.status).toBe(404);
    expect(error(answer).title).toBe('not found');
    expect(answer.headers).toMatchObject({ 'tfp-api-version': '2.6', 'tfp-appname': 'HCP Terraform' });
  }
});

it('tells clients where the API is, and its version', async () => {
  const discovery = await api.get('/.well-known/terraform.json', { token: null });
  expect(discovery).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  expect(discovery.body).toEqual({
    'login.v1': expect.objectContaining({ client: 'terraform-cli' }),
    'tfe.v2': '/api/v2/',
    'tfe.v2.1': '/api/v2/',
    'tfe.v2.2': '/api/v2/',
    'state.v2': '/api/v2/',
  });
  const ping = await api.get('ping', { token: null });
  expect(ping.status).toBe(204);
  expect(ping.headers).toMatchObject({ 'tfp-api-version': '2.6', 'tfp-appname': 'HCP Terraform' });
});

it('sends security headers and nothing for other origins', async () => {
  const { headers } = await api.get('organizations/acme');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

it('authenticates with 1 read, and reads the subject and one membership beside it', async () => {
  const workspace = await api.workspace();
  const before = api.aws.calls;
  await api.get(`workspaces/${workspace.id}`);
  expect(api.aws.calls - before).toBe(3);
});
