import { describe, expect, it } from 'vitest';
import type { Permission } from '#api/permissions/permissions.ts';
import type { Caller } from '#resources/teams/access/standing.ts';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { makeOrganization } from '../../ip-allowlists/support.ts';

/** Permissions of a user, as the platform asks for them. */

const api = await startApi();
const members = await memberHelpers();
const store = {
  ...(await import('#resources/teams/access/grants.ts')),
  ...(await import('#resources/teams/access/record-loader.ts')),
  ...(await import('#resources/projects/records.ts')),
  ...(await import('#resources/workspaces/records.ts')),
  ...(await import('#resources/teams/grants.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
};

/** An organization of the owner with a workspace in a project. */
const home = async () => {
  const organization = uniqueName('home');
  await api.post('organizations', { name: organization, email: 'a@b.test' });
  const projectId = (await api.post(`organizations/${organization}/projects`, { name: 'project' })).body.data
    .id as string;
  const on = { project: { data: { type: 'projects', id: projectId } } };
  const workspaceId = (await api.post(`organizations/${organization}/workspaces`, { name: 'w' }, on)).body.data.id;
  const workspace = await store.getWorkspace(workspaceId);
  const project = await store.getProject(projectId);
  if (!workspace || !project) throw new Error('no workspace');
  return { organization, workspace, project };
};

const has = async (granted: ReadonlySet<Permission> | Promise<ReadonlySet<Permission>>, permission: Permission) =>
  (await granted).has(permission);

describe('permissions in an organization', () => {
  it('do not apply to records of another organization, even for an owner of both', async () => {
    const [one, other] = [await home(), await home()];
    const { organization } = one;
    const grants = store.grantsOfUser(api.userId);
    for (const [{ workspace, project }, expected] of [
      [one, true],
      [other, false],
    ] as const) {
      expect(await has(grants.on({ organization, workspace }), 'workspace:read')).toBe(expected);
      expect(await has(grants.on({ organization, workspace: workspace.id }), 'workspace:read')).toBe(expected);
      expect(await has(grants.on({ organization, project }), 'project:read')).toBe(expected);
    }
    const member = await members.withFlags(organization);
    const { id } = member.team;
    await store.grant({ workspace: one.workspace }, id, { access: 'read' });
    await store.grant({ project: one.project }, id, { access: 'read' });
    await store.update(store.keys.workspace(other.workspace.id), { set: { teamAccess: { [id]: { access: 'read' } } } });
    await store.update(store.keys.project(other.project.id), { set: { teamAccess: { [id]: { access: 'read' } } } });
    const ofMember = store.grantsOfUser(member.id);
    for (const [{ workspace, project }, expected] of [
      [one, true],
      [other, false],
    ] as const) {
      expect(await has(ofMember.on({ organization, workspace: workspace.id }), 'workspace:read')).toBe(expected);
      expect(await has(ofMember.on({ organization, project: project.id }), 'project:read')).toBe(expected);
    }
  });

  it('end with the workspace, for owners too', async () => {
    const { organization, workspace } = await home();
    await store.update(store.keys.workspace(workspace.id), { set: { deletedAt: '2026-01-01T00:00:00.000Z' } });
    const grants = store.grantsOfUser(api.userId);
    const items = [{ workspaceId: workspace.id }, { workspaceId: 'ws-none' }];
    expect(await has(grants.on({ organization, workspace: workspace.id }), 'workspace:read')).toBe(false);
    expect(await grants.visibleInLiving(organization, items)).toEqual([]);
    expect(await grants.visible(organization, items), 'history').toEqual(items);
    expect((await store.noGrants.on({ organization, workspace: workspace.id })).size, 'of a run').toBe(0);
  });

  it('on a variable set include those on its owning project, and reading where variables can be read', async () => {
    const { organization, workspace, project } = await home();
    const member = await members.withFlags(organization);
    const on = (set: object, { id } = member) =>
      store.grantsOfUser(id).on({ organization, variableSet: { organization, ...set } });
    const sets = [
      { workspaceIds: new Set([workspace.id]) },
      { projectIds: new Set([project.id]) },
      { projectId: project.id },
      {},
    ];
    const read = () => Promise.all(sets.map((set) => has(on(set), 'varset:read')));
    const write = () => Promise.all(sets.map((set) => has(on(set), 'varset:write')));
    expect(await read()).toEqual([false, false, false, false]);
    await store.grant({ workspace }, member.team.id, { access: 'read' });
    expect(await read()).toEqual([true, false, false, false]);
    await store.grant({ project }, member.team.id, { access: 'admin' });
    expect(await read()).toEqual([true, true, true, false]);
    expect(await write()).toEqual([false, false, true, false]);
    const reader = await members.withFlags(organization, 'read-workspaces');
    await store.grant({ project }, reader.team.id, { access: 'admin' });
    const writes = await Promise.all(sets.map((set) => has(on(set, reader), 'varset:write')));
    expect(writes, 'who reads all sets').toEqual([false, false, true, false]);
  });

  it('let users change their own membership, and in the default project include those on the organization', async () => {
    const { organization, project } = await home();
    const member = await members.withFlags(organization, 'manage-policies');
    const { on } = store.grantsOfUser(member.id);
    expect(await has(on({ organization, membershipOf: member.id }), 'membership:write')).toBe(true);
    expect(await has(on({ organization, membershipOf: api.userId }), 'membership:write')).toBe(false);
    expect(await has(on({ organization, project, isDefaultProject: true }), 'policy:write')).toBe(true);
    expect(await has(on({ organization, project }), 'policy:write')).toBe(false);
  });

  it('reach the workspaces and projects on which a team has a grant', async () => {
    const { organization, workspace, project } = await home();
    const member = await members.withFlags(organization);
    const reach = () => store.grantsOfUser(member.id).reach(organization, 'workspace:read');
    const reachesNothing = (userId: string) => store.grantsOfUser(userId).reachesNothing(organization);
    expect(await reachesNothing(member.id)).toBe(true);
    await store.grant({ project }, member.team.id, { access: 'read' });
    expect(await reachesNothing(member.id)).toBe(false);
    await store.grant({ workspace }, member.team.id, { access: 'read' });
    expect(await reach()).toEqual({ workspaceIds: new Set([workspace.id]), projectIds: new Set([project.id]) });
    expect(await reachesNothing(api.userId)).toBe(false);
    expect(await store.grantsOfUser(api.userId).reach(organization, 'workspace:read')).toBeUndefined();
  });
});

describe('a caller', () => {
  const inPast = '2020-01-01T00:00:00.000Z';
  const createdAt = '2021-01-01T00:00:00.000Z';
  const caller = (kind: Caller['kind'], address = '192.0.2.1'): Caller => ({ kind, address, createdAt });

  it.each<[set: Record<string, string | boolean>, of: Caller['kind'], refuses: string | undefined]>([
    [{ withoutUserTokens: true }, 'user', 'user token'],
    [{ withoutUserTokens: true }, 'session', undefined],
    [{ tokensUntil: inPast }, 'user', 'old sign-in'],
    [{ tokensUntil: inPast }, 'session', undefined],
    [{ tokensUntil: '2999-01-01T00:00:00.000Z' }, 'user', undefined],
    [{ tokensFrom: inPast }, 'user', undefined],
    [{ tokensFrom: createdAt }, 'user', 'older token'],
    [{ tokensFrom: '2999-01-01T00:00:00.000Z' }, 'session', 'older token'],
  ])('whose membership has %j is refused with a token of kind %s: %s', async (set, kind, refuses) => {
    const { organization } = await home();
    const member = await members.member(organization);
    await store.update(store.keys.membership(member.id, organization), { set });
    const standing = await store.grantsOfUser(member.id, caller(kind)).standing(organization);
    expect(standing).toEqual(refuses ? { teams: [], refuses } : { role: 'member', teams: [] });
  });

  it('from an address outside the allowlist is refused by that organization, except an owner', async () => {
    const { name: organization, workspace, addList } = await makeOrganization(api);
    const another = await home();
    const member = await members.member(organization);
    await addList('organization', '203.0.113.0/24');
    const refusedBy = async (userId: string, of: Caller | undefined, ...others: string[]) => {
      const grants = store.grantsOfUser(userId, of);
      await grants.on({ organization, workspace });
      for (const other of others) await grants.standing(other);
      return grants.refusedBy();
    };
    expect(await refusedBy(member.id, caller('user'))).toBe(organization);
    expect(await refusedBy(member.id, caller('user', '203.0.113.9'))).toBeUndefined();
    expect(await refusedBy(member.id, undefined), 'the platform acts for the user').toBeUndefined();
    expect(await refusedBy(member.id, caller('user'), another.organization)).toBeUndefined();
    expect(await refusedBy(api.userId, caller('user'))).toBeUndefined();
  });
});

it('a record is read once, and a failed read fails for all that need it', async () => {
  const asked: string[][] = [];
  const { find, note } = store.recordLoader(async (ids) => {
    asked.push(ids);
    return ids.filter((id) => id !== 'c').map((id) => ({ id }));
  });
  await find(['a', { id: 'b' }]);
  expect((await find(['a', 'b', 'c']))('c')).toBeUndefined();
  await find(['a', 'b', 'c']);
  expect(asked).toEqual([['a'], ['c']]);
  note('unused', Promise.reject(new Error('no unhandled error')));
  note('d', Promise.reject(new Error('throttled')));
  await expect(find(['d'])).rejects.toThrow('throttled');
  const times: string[] = [];
  const ask = store.once(async (key) => times.push(key));
  await Promise.all([ask('a'), ask('a'), ask('b')]);
  expect(times).toEqual(['a', 'b']);
});
