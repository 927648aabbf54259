import { describe, expect, it } from 'vitest';
import { detailOf, startApi } from '#test/support/api.ts';
import { makeOrganization, office, elsewhere as outside, statusFrom } from './support.ts';

/** Requests from inside and outside of an organization's IP allowlists. */

const api = await startApi();

const from = (path: string, address: string, token: string) => statusFrom(api, path, address, token);

/** Tokens of the owners team and of the organization. */
const serviceTokens = async (name: string) => {
  const { data: teams } = (await api.get(`organizations/${name}/teams`)).body;
  const team = await api.post(`teams/${teams[0].id}/authentication-token`, {});
  const organization = await api.post(`organizations/${name}/authentication-token`, {});
  const trail = await api.post(`organizations/${name}/authentication-token?token=audit-trails`, {});
  const secretOf = ({ body }: typeof team): string => body.data.attributes.token;
  return { team: secretOf(team), organization: secretOf(organization), trail: secretOf(trail) };
};

describe('an allowlist of the organization', () => {
  it('refuses members, teams and the organization from other addresses by name, but never owners', async () => {
    const { name, workspace, members, addList } = await makeOrganization(api);
    const admin = await members.withLevel(name, 'admin');
    const owner = await members.owner(name);
    const tokens = await serviceTokens(name);
    const paths = [`organizations/${name}`, `workspaces/${workspace}`, `organizations/${name}/workspaces/w`];
    const list = await addList('organization', '192.0.2.0/24');
    for (const path of paths) {
      for (const token of [admin.token, tokens.team, tokens.organization]) {
        expect([path, await from(path, office, token)]).toEqual([path, 200]);
        const { status, body } = await api.get(path, { token, address: outside });
        expect([path, status, body.errors[0]]).toEqual([
          path,
          403,
          {
            status: '403',
            title: 'forbidden',
            detail: expect.stringMatching(`${outside}.* IP allowlist of .*${name}`),
          },
        ]);
      }
      expect(await from(path, outside, owner.token)).toBe(200);
    }
    const trail = 'organization/audit-trail';
    expect([await from(trail, office, tokens.trail), await from(trail, outside, tokens.trail)]).toEqual([200, 403]);
    expect((await api.call('DELETE', `workspaces/${workspace}`, { token: admin.token, address: outside })).status).toBe(
      403,
    );
    await api.call('DELETE', `cidr-range-lists/${list}`);
    expect(await from(`workspaces/${workspace}`, outside, admin.token)).toBe(200);
  });

  it('applies to sessions of the page, and to lists of organizations', async () => {
    const { name, members, addList } = await makeOrganization(api);
    const { issueSession } = await import('#resources/users/tokens.ts');
    const member = await members.member(name);
    const session = await issueSession(member.id, new Date(Date.now() + 60_000).toISOString());
    await addList('organization', '192.0.2.0/24');
    expect([
      await from(`organizations/${name}`, office, session),
      await from(`organizations/${name}`, outside, session),
    ]).toEqual([200, 403]);
    // The caller's only organization: an empty list would not explain why.
    const alone = await api.get('organizations', { token: session, address: outside });
    expect(detailOf(alone)).toEqual([403, expect.stringContaining(name)]);
    const { addMember } = await import('#resources/users/memberships.ts');
    await addMember('acme', member.id);
    const { body } = await api.get('organizations', { token: session, address: outside });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['acme']);
    const own = await api.get('organization-memberships?include=organization', { token: session, address: outside });
    expect(own.body.included.map(({ id }: { id: string }) => id)).not.toContain(name);
    expect(await from('account/details', outside, session)).toBe(200);
  });

  it('uses the address of the connection, regardless of headers', async () => {
    const { name, members, addList } = await makeOrganization(api);
    const { token } = await members.member(name);
    await addList('organization', '192.0.2.0/24');
    const spoofs = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip'];
    for (const header of [...spoofs, 'x-original-forwarded-for', 'x-cluster-client-ip', 'client-ip']) {
      const value = header === 'forwarded' ? `for=${office}` : office;
      const sent = { token, address: outside, headers: { [header]: value } };
      expect([header, (await api.get(`organizations/${name}`, sent)).status]).toEqual([header, 403]);
    }
    for (const [address, status] of [
      ['::ffff:192.0.2.77', 200],
      ['::ffff:198.51.100.9', 403],
      ['::ffff:c000:24d', 200],
      ['2001:db8::1', 403],
      ['', 403],
    ] as const) {
      expect([address, await from(`organizations/${name}`, address, token)]).toEqual([address, status]);
    }
  });

  it('without an enabled range restricts no user; each enabled range admits its addresses', async () => {
    const { name, members, addList, addRange } = await makeOrganization(api);
    const { token } = await members.member(name);
    const at = `organizations/${name}`;
    const list = await addList('organization');
    await addRange(list, '192.0.2.0/24', { enabled: false });
    expect(await from(at, outside, token)).toBe(200);
    const range = (await addRange(list, '2001:db8::/32')).body.data.id;
    expect([await from(at, office, token), await from(at, '2001:db8:7::1', token)]).toEqual([403, 200]);
    await addRange(list, '192.0.2.0/25');
    expect([await from(at, office, token), await from(at, '192.0.2.200', token)]).toEqual([200, 403]);
    await api.patch(`cidr-ranges/${range}`, { enabled: false });
    expect(await from(at, '2001:db8:7::1', token)).toBe(403);
    await api.patch(`cidr-range-lists/${list}`, { 'enforcement-scope': 'all_agent_pools' });
    expect(await from(at, outside, token)).toBe(200);
  });

  it('applies to later members, and to teams with a later first token', async () => {
    const { name, members, addList } = await makeOrganization(api);
    await addList('organization', '192.0.2.0/24');
    const late = await members.withFlags(name, 'manage-workspaces');
    expect(await from(`organizations/${name}`, outside, late.token)).toBe(403);
    const made = await api.post(`teams/${late.team.id}/authentication-token`, {});
    const { token } = made.body.data.attributes;
    expect([
      await from(`organizations/${name}`, office, token),
      await from(`organizations/${name}`, outside, token),
    ]).toEqual([200, 403]);
    // A second token of the same account, which is still restricted.
    await api.post(`teams/${late.team.id}/authentication-tokens`, { description: 'second' });
    expect(await from(`organizations/${name}`, outside, token)).toBe(403);
    const invited = await members.newUser('invited');
    const { addMember, acceptMembership, getMembershipOrInvitation } = await import('#resources/users/memberships.ts');
    await addMember(name, invited.id, 'member', { invitation: { email: 'invited@b.test' } });
    const invitation = await getMembershipOrInvitation(invited.id, name);
    if (invitation) await acceptMembership(invitation);
    expect(await from(`organizations/${name}`, outside, invited.token)).toBe(403);
  });

  it('does not restrict forges, runs, uploads and links', async () => {
    const { name, workspace, addList } = await makeOrganization(api);
    const token = await tokenOfRun(workspace);
    await addList('organization', '192.0.2.0/24');
    for (const path of ['/.well-known/terraform.json', '/api/v2/ping', '/api/meta/ip-ranges']) {
      expect([path, (await api.get(path, { token: null, address: outside })).status]).toEqual([
        path,
        path.endsWith('ping') ? 204 : 200,
      ]);
    }
    expect(await from(`organizations/${name}/entitlement-set`, outside, token)).toBe(200);
    // A run's token stays rejected on routes that do not accept it.
    expect(await from(`workspaces/${workspace}/runs`, outside, token)).toBe(404);
    // Forges authenticate by signature.
    expect((await api.call('POST', '/webhooks/vcs/nothing', { token: null, address: outside })).status).not.toBe(403);
  });
});

/** A token of Terraform in a run. */
const tokenOfRun = async (workspaceId: string): Promise<string> => {
  const workspace = { data: { type: 'workspaces', id: workspaceId } };
  await api.configuration(workspaceId, { 'auto-queue-runs': false });
  const { id } = (await api.post('runs', {}, { workspace })).body.data;
  const { updateRun } = await import('#resources/runs/records.ts');
  const { hashSecret } = await import('#platform/store/id.ts');
  const token = `sfr_${id.replace('run-', '')}.plan.${'s'.repeat(43)}`;
  await updateRun(id, { set: { 'plan.tokenHash': hashSecret(token) } });
  return token;
};

describe('the user who changes an allowlist', () => {
  it('cannot exclude their own address, except as an owner', async () => {
    const { name, addList, addRange, members } = await makeOrganization(api);
    const { organization: token } = await serviceTokens(name);
    const owner = await members.owner(name);
    const list = await addList('organization');
    const refused = await addRange(list, '203.0.113.0/24', {}, { token, address: outside });
    expect(detailOf(refused)).toEqual([422, expect.stringContaining(outside)]);
    expect((await addRange(list, '198.51.100.0/24', {}, { token, address: outside })).status).toBe(201);
    const { id } = (await addRange(list, '203.0.113.0/24', {}, { token, address: outside })).body.data;
    const [first] = (await api.get(`cidr-range-lists/${list}/relationships/cidr-ranges`)).body.data;
    const sent = { token, address: outside };
    expect((await api.call('DELETE', `cidr-ranges/${first.id}`, sent)).status).toBe(422);
    const off = { ...sent, body: { data: { attributes: { enabled: false } } } };
    expect((await api.call('PATCH', `cidr-ranges/${first.id}`, off)).status).toBe(422);
    expect((await api.call('DELETE', `cidr-ranges/${first.id}`, { token: owner.token, address: outside })).status).toBe(
      204,
    );
    expect((await api.call('DELETE', `cidr-ranges/${id}`, sent)).status).toBe(403);
    expect(
      (await api.call('DELETE', `cidr-range-lists/${list}`, { token: owner.token, address: outside })).status,
    ).toBe(204);
  });
});

describe('the mark of an organization with allowlists', () => {
  it('is kept by a late removal if a newer change has set it again', async () => {
    const { name, members, addList } = await makeOrganization(api);
    const { getOrganization } = await import('#resources/organizations/records.ts');
    const { forgetEverywhere } = await import('#resources/ip-allowlists/flags.ts');
    const { token } = await members.member(name);
    await addList('organization', '192.0.2.0/24');
    const home = await getOrganization(name);
    if (!home?.ipAllowlists) throw new Error('no note');
    // An earlier change ended the enforcement; its cleanup is late and must not affect the enforcement that started
    // since.
    await forgetEverywhere(home, home.ipAllowlists - 1);
    expect(await from(`organizations/${name}`, outside, token)).toBe(403);
  });
});

describe('an organization without allowlists', () => {
  it('costs no additional read, even after having had some', async () => {
    const { name, workspace, members, addList } = await makeOrganization(api);
    const member = await members.withLevel(name, 'admin');
    const { token } = await members.member(name);
    const { team } = await serviceTokens(name);
    const counted = async (by: string): Promise<number[]> => {
      const counts: number[] = [];
      for (const path of [`organizations/${name}`, `workspaces/${workspace}`, 'organizations']) {
        // The first request caches the verified token.
        await api.get(path, { token: by });
        const before = api.aws.calls;
        await api.get(path, { token: by });
        counts.push(api.aws.calls - before);
      }
      return counts;
    };
    const before = [await counted(member.token), await counted(token), await counted(team)];
    const list = await addList('organization', '192.0.2.0/24');
    const within = [await counted(member.token), await counted(token), await counted(team)];
    expect(within.flat().reduce((a, b) => a + b)).toBeGreaterThan(before.flat().reduce((a, b) => a + b));
    await api.call('DELETE', `cidr-range-lists/${list}`);
    expect([await counted(member.token), await counted(token), await counted(team)]).toEqual(before);
  });
});
