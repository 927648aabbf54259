import { expect, it, vi } from 'vitest';
import { startAws } from '#test/support/aws.ts';

/** A deleted organization ends, even if the deletion is interrupted at any call. */

const aws = await startAws();
process.env.AWS_MAX_ATTEMPTS = '1';
const store = {
  ...(await import('#removal/organizations.ts')),
  ...(await import('#resources/organizations/records.ts')),
  ...(await import('#resources/organizations/create.ts')),
  ...(await import('#resources/users/memberships.ts')),
  ...(await import('#resources/users/accounts.ts')),
  ...(await import('#resources/teams/records.ts')),
  ...(await import('#resources/users/tokens.ts')),
  ...(await import('#resources/users/users.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  sweep: (await import('#lifecycle/repair/sweep.ts')).handler,
};
vi.spyOn(console, 'warn').mockImplementation(() => {});

let count = 0;

/** An organization with a member, a team, and tokens of the team and the organization. */
const open = async () => {
  const name = `org-${++count}`;
  const owner = await store.createUser({ username: `owner-${count}`, email: `o${count}@x.test` });
  const settings = { ...store.defaultOrganizationSettings, email: 'o@x.test' };
  const organization = await store.createOrganization(name, settings, owner.id);
  const team = await store.createTeam(name, { name: 'crew' });
  if (!organization || !team) throw new Error('nothing was made');
  const token = async (kind: 'team' | 'organization', userId: string) =>
    (await store.issueToken({ kind, userId, organization: name, teamId: team.id, description: null, expiredAt: null }))
      .secret;
  const secrets = [
    await token('team', await store.ensureTeamAccount(team)),
    await token('organization', await store.ensureOrganizationAccount(organization)),
  ];
  return { organization, owner, team, secrets };
};

it('the sweep completes an interrupted deletion of an organization', async () => {
  let cuts = 0;
  for (let n = 2; ; n += 3) {
    const { organization, owner, team, secrets } = await open();
    const { name } = organization;
    aws.failCall(n, 'before');
    const failed = await store.deleteOrganization(organization, owner.id).then(
      () => false,
      () => true,
    );
    const wasCut = failed || !aws.pendingFault;
    aws.failCall(0, 'before');
    expect(await store.getOrganization(name)).toBeUndefined();
    if (wasCut) {
      cuts++;
      await store.update(store.keys.organization(name), {
        set: { dueAt: new Date(0).toISOString() },
        condition: 'attribute_exists(dueShard)',
      });
      await store.sweep();
    }
    expect(await store.getMembership(owner.id, name)).toBeUndefined();
    expect(await store.getTeam(team.id)).toBeUndefined();
    for (const secret of secrets) expect(await store.findToken(secret)).toBeUndefined();
    // Only its name remains, permanently, and no work is due.
    const rest = await store.queryAll<{ sk: string; deletedAt?: string; dueAt?: string }>({
      pk: store.keys.organization(name).pk,
    });
    expect(rest.map(({ sk }) => sk)).toEqual(['ORG']);
    expect(rest[0]).toMatchObject({ deletedAt: expect.any(String) });
    expect(rest[0]?.dueAt).toBeUndefined();
    const settings = { ...store.defaultOrganizationSettings, email: 'm@x.test' };
    expect(await store.createOrganization(name, settings, owner.id)).toBeUndefined();
    if (!wasCut) break;
  }
  expect(cuts).toBeGreaterThan(10);
});

it('an organization accepts no new members during its deletion', async () => {
  const { organization, owner } = await open();
  const late = await store.createUser({ username: 'late', email: 'late@x.test' });
  await store.deleteOrganization(organization, owner.id);
  await store.addMember(organization.name, late.id, 'owner');
  expect(await store.getMembership(late.id, organization.name)).toBeUndefined();
  await store.ensureOrganizationAccount(organization);
  const account = store.accountOfOrganization(organization);
  expect(await store.getMembership(account, organization.name)).toBeUndefined();
});

it('a deletion includes any number of workspaces and their contents', async () => {
  const { createWorkspace, defaultSettings, findWorkspace } = await import('#resources/workspaces/records.ts');
  const { organization, owner } = await open();
  const { name, defaultProjectId: projectId } = organization;
  const creations = Array.from({ length: 23 }, (_, i) =>
    createWorkspace({ ...defaultSettings, organization: name, name: `w${i}`, projectId, tags: [] }),
  );
  const workspaces = await Promise.all(creations);
  await store.deleteOrganization(organization, owner.id);
  await store.sweep();
  expect(await findWorkspace(name, 'w0')).toBeUndefined();
  for (const workspace of workspaces)
    expect(await store.get(store.keys.workspace(workspace?.id ?? ''))).toBeUndefined();
  const rest = await store.queryAll<{ sk: string; dueAt?: string }>({ pk: store.keys.organization(name).pk });
  expect(rest.map(({ sk, dueAt }) => [sk, dueAt])).toEqual([['ORG', undefined]]);
});
