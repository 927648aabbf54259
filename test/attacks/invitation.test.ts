import { describe, expect, it } from 'vitest';
import { type Person, Scene } from './support.ts';

/** An invitation from a stranger has no effect on the invited user until they accept it. */

let membershipId: string;
const scene = await Scene.open();
// The strictest settings of an organization: sessions of its members last a minute.
const strange = await scene.organizationOf(scene.owner, { 'session-timeout': 1 });
const victim: Person = await scene.signIn();
({ id: membershipId } = await scene.invite(victim.account.email ?? '', [], scene.owner, strange));

const idsIn = async (path: string, token = victim.token): Promise<string[]> =>
  (await scene.must(token, 'GET', path)).map(({ id }: { id: string }) => id);

describe('a pending invitation', () => {
  it('shortens no session', async () => {
    const { body } = await scene.exchange(victim.account);
    expect(body.expires_in).toBeGreaterThan(3600);
  });

  it('grants no membership', async () => {
    expect(await idsIn('organizations')).not.toContain(strange);
    expect((await scene.get(victim.token, `organizations/${strange}`)).status).toBe(404);
  });

  it("hides the invited user's account changes and username", async () => {
    const token = await scene.must(victim.token, 'POST', `users/${victim.id}/authentication-tokens`, {
      data: { attributes: { description: 'private' } },
    });
    const trail = await scene.get(
      scene.owner,
      `organization/audit-trail?filter[organization][name]=${strange}&sort=-timestamp`,
    );
    expect(JSON.stringify(trail.body)).not.toContain(token.id);
    expect(
      trail.body.data.filter((one: { auth: { accessor_id: string } }) => one.auth.accessor_id === victim.id),
    ).toEqual([]);
    const listed = await scene.get(scene.owner, `organizations/${strange}/organization-memberships?include=user`);
    const invited = listed.body.data.find(({ id }: { id: string }) => id === membershipId);
    expect(invited.attributes).toMatchObject({ status: 'invited', email: victim.account.email });
    const user = listed.body.included.find(({ id }: { id: string }) => id === victim.id);
    expect(user?.attributes.username ?? null).toBe(null);
  });

  it('cannot be accepted by its sender', async () => {
    const answer = await scene.call(scene.owner, 'POST', `organization-memberships/${membershipId}/actions/accept`);
    expect(answer.status).toBe(403);
    const [listed] = (await scene.must(victim.token, 'GET', 'organization-memberships?filter[status]=invited')).filter(
      ({ id }: { id: string }) => id === membershipId,
    );
    expect(listed.attributes.status).toBe('invited');
  });
});

it('an invited user becomes a member once the invitation is accepted', async () => {
  await scene.must(victim.token, 'POST', `organization-memberships/${membershipId}/actions/accept`);
  expect(await idsIn('organizations')).toContain(strange);
  expect((await scene.exchange(victim.account)).body.expires_in).toBeLessThanOrEqual(60);
});

it('an invited user can decline the invitation', async () => {
  const other = await scene.signIn();
  const { id } = await scene.invite(other.account.email ?? '', [], scene.owner, strange);
  await scene.must(other.token, 'DELETE', `organization-memberships/${id}`);
  expect(await idsIn('organization-memberships?filter[status]=invited', other.token)).toEqual([]);
  const answer = await scene.call(other.token, 'POST', `organization-memberships/${id}/actions/accept`);
  expect(answer.status).toBe(404);
});
