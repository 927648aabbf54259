import { beforeEach, expect, it } from 'vitest';
import { uniqueName } from '#test/support/api.ts';
import { AppServer } from './support/app-server.ts';
import { Followed } from './support/followed.ts';

/**
 * Costs of version control for workspaces that do not use it: counted AWS calls, in organizations with and without
 * connections.
 */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const api = () => followed.api;

const newOrganization = async (): Promise<string> => {
  const name = uniqueName('home');
  const { status } = await api().post('organizations', { name, email: 'a@b.test' });
  expect(status).toBe(201);
  return name;
};

/** Number of calls to AWS and KMS, and of requests to a forge. */
const costOf = async (work: () => Promise<{ status: number }>, accepted = 300): Promise<string> => {
  const { aws, storage } = api();
  const [calls, stored, forge] = [aws.calls, storage.calls.length, followed.forge.calls.length];
  const { status } = await work();
  expect(status).toBeLessThan(accepted);
  return `${aws.calls - calls} calls, ${storage.calls.length - stored} of storage, ${followed.forge.calls.length - forge} of forges`;
};

/** The steps of a workspace's life without version control. */
const costsIn = async (organization: string): Promise<Record<string, string>> => {
  const costs: Record<string, string> = {};
  const name = uniqueName('plain');
  const create = () => api().post(`organizations/${organization}/workspaces`, { name, 'execution-mode': 'remote' });
  let id = '';
  costs.create = await costOf(async () => {
    const made = await create();
    id = made.body.data.id;
    return made;
  });
  const { id: version } = await api().configuration(id);
  const workspace = { data: { type: 'workspaces', id } };
  const of = { data: { type: 'configuration-versions', id: version } };
  let run = '';
  costs.read = await costOf(() => api().get(`workspaces/${id}`));
  costs.list = await costOf(() => api().get(`organizations/${organization}/workspaces?search[name]=${name}`));
  costs.change = await costOf(() => api().patch(`workspaces/${id}`, { description: 'changed' }));
  costs.run = await costOf(async () => {
    const made = await api().post('runs', {}, { workspace, 'configuration-version': of });
    run = made.body.data.id;
    return made;
  });
  costs.readRun = await costOf(() => api().get(`runs/${run}`));
  const { handler: pending } = await import('#lifecycle/states/pending.ts');
  costs.pending = await costOf(async () => {
    await pending({ runId: run, taskToken: 'token', heartbeatSeconds: 0 } as never);
    return { status: 200 };
  });
  costs.delete = await costOf(() => api().call('DELETE', `/api/v2/workspaces/${id}`), 500);
  return costs;
};

it('a workspace without a connection costs no additional call, even if its organization has connections', async () => {
  delete process.env.GITHUB_APP;
  const without = await costsIn(await newOrganization());
  process.env.GITHUB_APP = new AppServer(followed.forge).settings();
  const home = await newOrganization();
  const { body } = await api().post(`organizations/${home}/oauth-clients`, {
    'service-provider': 'github',
    'http-url': followed.forge.url,
    'api-url': followed.forge.url,
    'oauth-token-string': 'good',
  });
  const token = body.data.relationships['oauth-tokens'].data[0].id;
  const connected = await api().post(`organizations/${home}/workspaces`, {
    name: 'connected',
    'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token },
  });
  expect(connected.status).toBe(201);
  expect(await costsIn(home)).toEqual(without);
  expect(Object.values(without).every((cost) => cost.endsWith('0 of forges'))).toBe(true);
});

it('version control costs nothing without a GitHub App', async () => {
  delete process.env.GITHUB_APP;
  const home = await newOrganization();
  const before = await costOf(() => api().get(`organizations/${home}/oauth-clients`));
  expect(before).toMatch(/^\d+ calls, 0 of storage, 0 of forges$/);
  const plain = Number((await costOf(() => api().get(`organizations/${home}`))).split(' ')[0]);
  const listed = Number(
    (await costOf(() => api().get(`organizations/${home}/github-app-installations`))).split(' ')[0],
  );
  expect(listed).toBeLessThanOrEqual(plain);
  const user = Number((await costOf(() => api().get('account/details'))).split(' ')[0]);
  expect(Number((await costOf(() => api().get('github-app/installations'))).split(' ')[0])).toBeLessThanOrEqual(user);
});
