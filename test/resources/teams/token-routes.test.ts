import { describe, expect, it } from 'vitest';
import { type Answered, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

const api = await startApi();
const members = await memberHelpers();

const tokenIn = ({ body }: Answered): string => body.data.attributes.token;
const status = async (token: string, path: string) => (await api.get(path, { token })).status;
const makeTeam = async (attributes: object = {}) =>
  (await api.post('organizations/acme/teams', { name: uniqueName('crew'), ...attributes })).body.data;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

describe('team tokens', () => {
  it("have the team's permissions, and descriptions of their own when there are several", async () => {
    const team = await makeTeam({ 'organization-access': { 'manage-workspaces': true } });
    const path = `teams/${team.id}/authentication-tokens`;
    const ci = await api.post(path, { description: 'CI' });
    expect(ci).toMatchObject({
      status: 201,
      body: { data: { attributes: { description: 'CI' }, relationships: { team: { data: { id: team.id } } } } },
    });
    const token = tokenIn(ci);
    expect(token).toMatch(/^sfteam_/);
    expect((await api.post('organizations/acme/workspaces', { name: uniqueName('ws') }, {}, { token })).status).toBe(
      201,
    );
    expect((await api.post('organizations/acme/projects', { name: uniqueName('project') }, {}, { token })).status).toBe(
      403,
    );
    await api.post(path, { description: 'CD' });
    const descriptions = (await api.get(path)).body.data.map((one: { attributes: object }) => one.attributes);
    expect(descriptions).toMatchObject([{ description: 'CI' }, { description: 'CD' }]);
    expect((await api.post(path, { description: 'CI' })).status).toBe(422);
    expect((await api.post(path, { description: 'of its own' }, {}, { token })).status).toBe(403);
    const statuses = [];
    for (const description of ['', '', null, null]) statuses.push((await api.post(path, { description })).status);
    expect(statuses).toEqual([201, 422, 201, 422]);
  });

  it('include one legacy token without a description, which is replaced', async () => {
    const team = await makeTeam();
    const path = `teams/${team.id}/authentication-token`;
    expect((await api.get(path)).status).toBe(404);
    const other = tokenIn(await api.post(`${path}s`, { description: 'stays' }));
    const first = tokenIn(await api.post(path));
    const second = tokenIn(await api.post(path));
    const statuses = [];
    for (const token of [first, second, other]) statuses.push(await status(token, 'account/details'));
    expect(statuses).toEqual([401, 200, 200]);
    expect((await api.get(path)).body.data.attributes).toMatchObject({ description: null, token: null });
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect(await status(second, 'account/details')).toBe(401);
    expect(await status(other, 'account/details')).toBe(200);
  });

  it('are managed by members if the team allows it, and invisible to others', async () => {
    const inside = await members.withFlags('acme');
    const outside = await members.member('acme');
    const path = `teams/${inside.team.id}/authentication-tokens`;
    const response = await api.post(path, { description: 'of a member' }, {}, { token: inside.token });
    expect(response.status).toBe(201);
    const one = `authentication-tokens/${response.body.data.id}`;
    expect([await status(inside.token, one), await status(outside.token, one)]).toEqual([200, 404]);
    expect(await status(outside.token, path)).toBe(404);
    await api.patch(`teams/${inside.team.id}`, { 'allow-member-token-management': false });
    expect((await api.post(path, { description: 'another' }, {}, { token: inside.token })).status).toBe(403);
    expect(await status(inside.token, one)).toBe(404);
    expect((await api.call('DELETE', one)).status).toBe(204);
    expect(await status(tokenIn(response), 'account/details')).toBe(401);
  });

  it('are listed and deleted across the organization, filtered by team and expiry', async () => {
    const [red, blue] = [await makeTeam({ name: 'red-listed' }), await makeTeam({ name: 'blue-listed' })];
    const lasting = await api.post(`teams/${red.id}/authentication-tokens`, { description: 'lasting' });
    const soon = await api.post(`teams/${blue.id}/authentication-tokens`, {
      description: 'soon',
      'expired-at': inDays(1),
    });
    const ids = async (query: string) => {
      const { data } = (await api.get(`organizations/acme/team-tokens?page[size]=100&${query}`)).body;
      return data.map(({ id }: { id: string }) => id);
    };
    expect(await ids('q=RED-l')).toEqual([lasting.body.data.id]);
    expect(await ids('q=-listed')).toEqual([lasting.body.data.id, soon.body.data.id]);
    expect(await ids('q=-listed&filter[expiry_status]=expiring_in_7_days,expired')).toEqual([soon.body.data.id]);
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    const { hashSecret } = await import('#platform/store/id.ts');
    const withExpiry = async (expiredAt: string | null) => {
      await update(keys.token(hashSecret(tokenIn(soon))), { set: { expiredAt } });
      const names = ['expired', 'active', 'expiring_in_7_days', 'expiring_in_30_days', 'no_expiration'];
      const lists = await Promise.all(names.map((name) => ids(`q=BLUE-&filter[expiry_status]=${name}`)));
      return names.filter((_, n) => lists[n]?.length);
    };
    expect(await withExpiry(inDays(-1))).toEqual(['expired']);
    expect(await withExpiry(inDays(20))).toEqual(['active', 'expiring_in_30_days']);
    expect(await withExpiry(inDays(40))).toEqual(['active']);
    expect(await withExpiry(null)).toEqual(['active', 'no_expiration']);
    expect(await ids('q=-listed&sort=expired-at')).toEqual([lasting.body.data.id, soon.body.data.id]);
    expect(await ids('q=-listed&sort=-expired-at')).toEqual([soon.body.data.id, lasting.body.data.id]);
    expect(await withExpiry(inDays(1))).toEqual(['active', 'expiring_in_7_days', 'expiring_in_30_days']);
    expect(await ids('q=-listed&sort=expired-at')).toEqual([soon.body.data.id, lasting.body.data.id]);
    expect(await ids('q=-listed&sort=-expired-at')).toEqual([lasting.body.data.id, soon.body.data.id]);
    expect((await api.get('organizations/acme/team-tokens?filter[expiry_status]=never')).status).toBe(400);
    const named = (...tokens: string[]) => ({ data: tokens.map((id) => ({ type: 'authentication-tokens', id })) });
    const refused = async (sent: object) => (await api.call('DELETE', 'organizations/acme/team-tokens', sent)).status;
    const outside = await members.withFlags('acme', 'manage-teams');
    expect(await refused({ body: named(lasting.body.data.id, 'at-none') })).toBe(404);
    expect(await refused({ body: named(lasting.body.data.id), token: outside.token })).toBe(404);
    expect(await refused({ body: named() })).toBe(422);
    expect(await ids('q=-listed'), 'all or none').toHaveLength(2);
    const body = named(lasting.body.data.id);
    expect((await api.call('DELETE', 'organizations/acme/team-tokens', { body })).status).toBe(204);
    expect(await ids('q=-listed')).toEqual([soon.body.data.id]);
    expect(await status(tokenIn(lasting), 'account/details')).toBe(401);
  });

  it('are rejected after the team was deleted', async () => {
    const team = await makeTeam();
    const token = tokenIn(await api.post(`teams/${team.id}/authentication-tokens`, { description: 'a' }));
    expect(await status(token, 'account/details')).toBe(200);
    await api.call('DELETE', `teams/${team.id}`);
    expect(await status(token, 'account/details')).toBe(401);
  });

  it('of the owners team are managed only by owners', async () => {
    const teams = (await api.get('organizations/acme/teams?page[size]=100')).body.data;
    const owners = teams.find(({ attributes }: { attributes: { name: string } }) => attributes.name === 'owners');
    const response = await api.post(`teams/${owners.id}/authentication-tokens`, { description: 'root' });
    const path = 'organizations/acme/authentication-token';
    expect((await api.get(path, { token: tokenIn(response) })).status).not.toBe(403);
    const { token } = await members.withFlags('acme', 'manage-organization-access');
    expect(
      (await api.post(`teams/${owners.id}/authentication-tokens`, { description: 'x' }, {}, { token })).status,
    ).toBe(403);
  });
});
