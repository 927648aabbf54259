import { expect, it } from 'vitest';
import { type Api, actingAs, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/**
 * Unused features cost nothing: an organization without registry, no-code modules, provider sets, test runs, queries
 * and deleted workspaces needs exactly as many requests to the table as before these features existed, even if other
 * organizations use them.
 */

const name = uniqueName('plain');
const api = await startApi();
const plain = actingAs(api, (await (await memberHelpers()).newUser(uniqueName('owner'))).token);
await plain.post('organizations', { name, email: 'a@example.com' });

const callsOf = async (work: () => Promise<{ status: number }>): Promise<number> => {
  const before = api.aws.calls;
  expect((await work()).status).toBeLessThan(300);
  return api.aws.calls - before;
};

/** Calls for a run's creation, its reads and lists, in organizations with the same content. */
const measured = async () => {
  const body = (await plain.post(`organizations/${name}/workspaces`, { name: uniqueName('w') })).body;
  const { id } = body.data;
  const archive = await plain.configuration(id);
  const related = {
    workspace: { data: { type: 'workspaces', id } },
    'configuration-version': { data: { type: 'configuration-versions', id: archive.id } },
  };
  let run = '';
  const costs: Record<string, number> = {};
  costs['a run'] = await callsOf(async () => {
    const answer = await plain.post('runs', { 'plan-only': true }, related);
    run = answer.body.data.id;
    return answer;
  });
  for (const path of [
    `runs/${run}`,
    `workspaces/${id}`,
    `workspaces/${id}/runs`,
    `workspaces/${id}/vars`,
    `organizations/${name}/runs`,
    `organizations/${name}/workspaces`,
    `organizations/${name}/projects`,
    `organizations/${name}/varsets`,
    `organizations/${name}`,
  ]) {
    costs[path.replace(run, 'run').replace(id, 'workspace').replace(name, 'organization')] = await callsOf(() =>
      plain.get(path),
    );
  }
  await (await import('#lifecycle/phases/finish.ts')).finishRun(run, 'Canceled');
  const { deleteWorkspace } = await import('#removal/workspaces.ts');
  await deleteWorkspace(body.data, { by: 'user-x', force: true });
  return costs;
};

const useEverything = async (of: Api, organization: string) => {
  const all = `organizations/${organization}`;
  const { id } = (await of.post(`${all}/workspaces`, { name: uniqueName('deleted') })).body.data;
  expect((await of.call('DELETE', `workspaces/${id}`)).status).toBe(204);
  const module = { name: uniqueName('module'), provider: 'aws', 'registry-name': 'private', 'no-code': true };
  expect((await of.post(`${all}/registry-modules`, module)).status).toBe(201);
  const set = {
    name: uniqueName('set'),
    global: true,
    'provider-source': 'hashicorp/null',
    'configuration-hcl': 'provider "null" {}',
  };
  expect((await of.post(`${all}/provider-sets`, set)).status).toBe(201);
};

it('unused features cost no additional request, even if others or the same organization use them elsewhere', async () => {
  // The first of each request warms caches.
  await measured();
  const before = await measured();
  expect(before).toEqual(expectedCalls);
  await useEverything(api, 'acme');
  expect(await measured()).toEqual(before);
  await useEverything(plain, name);
  expect(await measured()).toEqual(before);
});

/** Calls to DynamoDB. An increase makes every organization pay for it. */
const expectedCalls: Record<string, number> = {
  'a run': 15,
  'runs/run': 3,
  'workspaces/workspace': 4,
  'workspaces/workspace/runs': 4,
  'workspaces/workspace/vars': 4,
  'organizations/organization/runs': 4,
  'organizations/organization/workspaces': 5,
  'organizations/organization/projects': 5,
  'organizations/organization/varsets': 4,
  'organizations/organization': 3,
};
