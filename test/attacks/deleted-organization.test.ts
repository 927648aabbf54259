import { beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun } from '#test/e2e/support/waiting.ts';
import { type Person, Scene, uniqueName } from './support.ts';

/** Data of a deleted organization are inaccessible to its former owner and to the next owner of a similar name. */

const scene = await Scene.open({ STEPFORM_ORGANIZATION_CREATORS: 'anyone' });
/** Ids of the deleted organization's data. */
const former: Person = await scene.signIn();
const mallory: Person = await scene.signIn();
const organization = await scene.organizationOf(former.token);
const { token } = former;
const client = new Client(scene.platform.local.url, token);
const workspace = await scene.workspace(token, organization);
const version = await client.upload(workspace.id, await packFiles({ 'main.tf': 'output "secret" { value = "s" }' }));
const run = await client.createRun(workspace.id, { 'auto-apply': true }, version.id);
await client.waitForRun(run.id, isFinalRun);
const state = await scene.must(token, 'GET', `workspaces/${workspace.id}/current-state-version`);
const plan = (await scene.must(token, 'GET', `runs/${run.id}`)).relationships.plan.data.id;
const of = (what: string) => `organizations/${organization}/${what}`;
const policy = await scene.must(token, 'POST', of('policies'), {
  data: { attributes: { name: 'p', kind: 'opa', query: 'data.a.deny', 'enforcement-level': 'advisory' } },
});
const set = await scene.must(token, 'POST', of('policy-sets'), {
  data: { attributes: { name: 's', kind: 'opa', global: true } },
});
const varset = await scene.must(token, 'POST', of('varsets'), { data: { attributes: { name: 'v', global: true } } });
const task = await scene
  .must(token, 'POST', of('tasks'), {
    data: { attributes: { name: 't', url: scene.issuer.url, category: 'task', enabled: false } },
  })
  .catch(() => undefined);
const pool = await scene.must(token, 'POST', of('agent-pools'), { data: { attributes: { name: 'a' } } });
const team = await scene.team(token, {}, organization);
const teamId = team.id;
const project = await scene.must(token, 'POST', of('projects'), { data: { attributes: { name: 'proj' } } });
const secretOf = async (path: string, attributes: object = {}): Promise<string> =>
  (await scene.must(token, 'POST', path, { data: { attributes } })).attributes.token;
const serviceTokens: string[] = [
  await secretOf(of('authentication-token')),
  await secretOf(`${of('authentication-token')}?token=audit-trails`),
  await secretOf(`teams/${team.id}/authentication-token`),
  await secretOf(`agent-pools/${pool.id}/authentication-tokens`, { description: 'agent' }),
];
const invited = `${uniqueName('invited')}@example.test`;
await scene.invite(invited, [], token, organization);
/** Paths of its former resources. */
const paths: string[] = [
  of('workspaces'),
  `organizations/${organization}`,
  `organization/audit-trail?filter[organization][name]=${organization}`,
  `workspaces/${workspace.id}`,
  `runs/${run.id}`,
  `plans/${plan}`,
  `plans/${plan}/json-output`,
  `runs/${run.id}/run-events`,
  `configuration-versions/${version.id}`,
  `configuration-versions/${version.id}/download`,
  `state-versions/${state.id}`,
  `state-versions/${state.id}/download`,
  `policies/${policy.id}`,
  `policy-sets/${set.id}`,
  `varsets/${varset.id}`,
  ...(task ? [`tasks/${task.id}`] : []),
  `agent-pools/${pool.id}`,
  `teams/${team.id}`,
  `projects/${project.id}`,
];
for (const path of paths) expect([path, (await scene.get(token, path)).status < 300]).toEqual([path, true]);
await scene.must(token, 'DELETE', `workspaces/${workspace.id}`);

it('resources of a deleted workspace are hidden from owners', async () => {
  const ofWorkspace = paths.filter((path) => /^(workspaces|runs|plans|configuration|state)/.test(path));
  for (const path of ofWorkspace) {
    expect([path, (await scene.get(former.token, path)).status]).toEqual([path, 404]);
  }
});

describe('a deleted organization', () => {
  beforeAll(async () => {
    await scene.must(former.token, 'DELETE', `organizations/${organization}`);
  });

  it('keeps its name reserved', async () => {
    for (const { token } of [mallory, former]) {
      const attributes = { name: organization, email: 'm@example.test' };
      const { status, body } = await scene.post(token, 'organizations', attributes);
      expect(status).toBe(422);
      expect(body.errors[0].source.pointer).toBe('/data/attributes/name');
    }
  });

  it('is invisible to its former owner and to callers who request its name', async () => {
    for (const { token } of [mallory, former]) {
      for (const path of paths) {
        const expected = path.startsWith('organization/audit-trail') ? 403 : 404;
        expect([path, (await scene.get(token, path)).status]).toEqual([path, expected]);
      }
    }
    const listed = await scene.must(former.token, 'GET', 'organizations');
    expect(listed.map(({ id }: { id: string }) => id)).not.toContain(organization);
  });

  it('has no valid tokens', async () => {
    for (const token of serviceTokens) {
      expect((await scene.get(token, 'account/details')).status).toBe(401);
    }
    const agent = await fetch(`${scene.platform.local.url}/agent/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${serviceTokens[3]}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect([401, 404]).toContain(agent.status);
  });

  it('accepts no members, by invitation or by team id', async () => {
    const late = await scene.signIn({ email: invited });
    expect((await scene.must(late.token, 'GET', 'organizations')).length).toBe(0);
    expect((await scene.must(late.token, 'GET', 'organization-memberships')).length).toBe(0);
    const joined = await scene.call(former.token, 'POST', `teams/${teamId}/relationships/users`, {
      data: [{ type: 'users', id: former.id }],
    });
    expect(joined.status).toBe(404);
  });
});
