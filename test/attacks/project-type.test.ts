import { describe, expect, it } from 'vitest';
import { related } from '#clients/client/client.ts';
import {
  newName,
  newWorkspace,
  organization,
  client as owner,
  platform,
  type Resource,
} from '#test/e2e/support/world.ts';

/**
 * A relationship with a wrong type: if one part of the platform believed the type and another did not, a user could act
 * where they have no permission.
 */

const project = (name: string) =>
  owner.create(`/organizations/${organization}/projects`, 'projects', { name: newName(name) });
const [own, forbidden] = [await project('own'), await project('forbidden')];
// The user may create workspaces in the default project, by the flag, and in their own one.
const team = await owner.create(`/organizations/${organization}/teams`, 'teams', { name: newName('attackers') });
const { attributes } = await owner.create(`/teams/${team.id}/authentication-token`, 'authentication-tokens', {});
const attacker = attributes.token;
await owner.create(
  '/team-projects',
  'team-projects',
  { access: 'maintain' },
  { team: { data: { type: 'teams', id: team.id } }, project: { data: { type: 'projects', id: own.id } } },
);
const { data } = await owner.call('GET', `/organizations/${organization}`);
await owner.create(
  '/team-projects',
  'team-projects',
  { access: 'maintain' },
  {
    team: { data: { type: 'teams', id: team.id } },
    project: { data: { type: 'projects', id: related(data, 'default-project') } },
  },
);

const send = async (method: string, path: string, data: object): Promise<{ status: number; pointer?: string }> => {
  const response = await fetch(`${platform.url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${attacker}`, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({ data }),
  });
  const { errors } = (await response.json().catch(() => ({}))) as { errors?: { source?: { pointer: string } }[] };
  return { status: response.status, pointer: errors?.[0]?.source?.pointer };
};

const workspaces = async (project: Resource): Promise<string[]> =>
  (await owner.list(`/organizations/${organization}/workspaces?filter[project][id]=${project.id}`)).map(({ id }) => id);

const wrongTypes = ['project', 'Projects', 'projects ', 'organizations', 'workspaces', 'x'];

describe('a project id with a wrong type', () => {
  it.each(wrongTypes)('creates no workspace: %j', async (type) => {
    const answer = await send('POST', `/organizations/${organization}/workspaces`, {
      attributes: { name: newName() },
      relationships: { project: { data: { type, id: forbidden.id } } },
    });
    expect(answer).toEqual({ status: 422, pointer: '/data/relationships/project/data/type' });
    expect(await workspaces(forbidden)).toEqual([]);
  });

  it.each(wrongTypes)('moves no workspace: %j', async (type) => {
    const workspace = await newWorkspace();
    const answer = await send('PATCH', `/workspaces/${workspace.id}`, {
      attributes: {},
      relationships: { project: { data: { type, id: forbidden.id } } },
    });
    expect(answer).toEqual({ status: 422, pointer: '/data/relationships/project/data/type' });
    expect(await workspaces(forbidden)).toEqual([]);
  });

  it.each(['project', 'x', 'workspaces'])('creates no variable set: %j', async (type) => {
    const answer = await send('POST', `/organizations/${organization}/varsets`, {
      attributes: { name: newName('set') },
      relationships: { parent: { data: { type, id: forbidden.id } } },
    });
    expect(answer).toEqual({ status: 422, pointer: '/data/relationships/parent/data/type' });
  });

  it('is accepted without a type, and still checked for permission', async () => {
    const body = (project: Resource) => ({
      attributes: { name: newName() },
      relationships: { project: { data: { id: project.id } } },
    });
    const path = `/organizations/${organization}/workspaces`;
    expect((await send('POST', path, body(forbidden))).status).toBeGreaterThanOrEqual(403);
    expect(await workspaces(forbidden)).toEqual([]);
    expect((await send('POST', path, body(own))).status).toBe(201);
  });
});

it('an unknown relationship is rejected by name', async () => {
  const answer = await send('POST', `/organizations/${organization}/workspaces`, {
    attributes: { name: newName() },
    relationships: { projects: { data: { type: 'projects', id: own.id } } },
  });
  expect(answer).toEqual({ status: 422, pointer: '/data/relationships/projects' });
});
