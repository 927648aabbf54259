import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { clickOf, signed, signingSecret, startSlack } from '#test/support/slack.ts';
import { Scene, uniqueName } from './support.ts';

/**
 * Slack from outside: an attacker without a connected account and without the signing secret decides nothing, and
 * cannot connect the account of another user.
 */

const scene = await Scene.open();
const slack = await startSlack();
const { owner, organization } = scene;

const appOf = async (of: string, change: object = {}) => {
  const attributes = { ...slack.app, ...change };
  return scene.must(owner, 'PUT', `organizations/${of}/slack-app`, { data: { attributes } });
};
const app = await appOf(organization);
slack.issuer.trust(app.attributes['redirect-url']);

interface Tab {
  verifier: string;
  cookie: string;
  location: string;
}

const beginAt = async (path: string): Promise<Tab> => {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked = { client_id: 'page', code_challenge: challenge, code_challenge_method: 'S256' };
  const url = `${scene.platform.local.url}${path}?${new URLSearchParams(asked)}`;
  const begun = await fetch(url, { redirect: 'manual' });
  return {
    verifier,
    cookie: begun.headers.getSetCookie()[0]?.split(';')[0] ?? '',
    location: begun.headers.get('location') ?? '',
  };
};
const returned = async (tab: Tab, cookie: string) => {
  const back = await slack.issuer.visit(tab.location);
  const came = await fetch(back, { redirect: 'manual', headers: { cookie } });
  const code = new URLSearchParams(came.headers.get('location')?.split('#')[1]).get('code') ?? '';
  return { status: came.status, code };
};
const redeem = (token: string, code: string, verifier: string, of = organization) =>
  scene.call(token, 'PUT', `organizations/${of}/slack-link`, {
    data: { attributes: { code, 'code-verifier': verifier } },
  });
const begin = () => beginAt(`/slack/${app.id}/connect`);

const member = async () => {
  const email = `${uniqueName('member')}@example.test`;
  await scene.invite(email);
  return scene.signIn({ email });
};

const send = async (body: string, headers: Record<string, string>, at = app.attributes['interactions-url']) =>
  (await fetch(at, { method: 'POST', headers, body })).status;

it('a link that a victim follows connects nothing to the attacker, nor to the victim', async () => {
  const attacker = await member();
  // The attacker begins, and has the victim sign in to Slack at the attacker's address.
  const tab = await begin();
  slack.signIn('UVICTIM');
  // The victim's browser has no cookie of the attacker's.
  expect((await returned(tab, '')).status).toBe(400);
  expect((await returned(tab, 'sign-in=e30')).status).toBe(400);
  // The victim begins; the attacker gets the code out of the address, but not the verifier of the tab.
  const own = await begin();
  const { code } = await returned(own, own.cookie);
  expect((await redeem(attacker.token, code, tab.verifier)).status).toBe(400);
  // The guess used the code up.
  expect((await redeem(attacker.token, code, own.verifier)).status).toBe(400);
  const [link] = (await scene.get(attacker.token, 'account/slack-links')).body.data;
  expect(link.attributes['user-id']).toBeNull();
});

it('an account proven for one organization is linked in no other one', async () => {
  const elsewhere = await scene.organizationOf(owner);
  await appOf(elsewhere);
  slack.signIn('UOWNER');
  const tab = await begin();
  const { code } = await returned(tab, tab.cookie);
  expect((await redeem(owner, code, tab.verifier, elsewhere)).status).toBe(400);
});

it('the owner of an organization forges clicks in that one only', async () => {
  const attacker = await scene.signIn();
  const elsewhere = await scene.organizationOf(owner);
  const theirs = await appOf(elsewhere, { 'signing-secret': 'secret of the attacker' });
  const runId = 'run-0000000000000000';
  const body = clickOf({ choice: 'apply', runId, user: 'UOWNER', replyUrl: slack.replyUrl });
  // Signed for the attacker's app, sent to the victim's address, and the other way round.
  expect(await send(body, signed(body, { secret: 'secret of the attacker' }))).toBe(401);
  expect(await send(body, signed(body), theirs.attributes['interactions-url'])).toBe(401);
  slack.replies.length = 0;
  expect(
    await send(body, signed(body, { secret: 'secret of the attacker' }), theirs.attributes['interactions-url']),
  ).toBe(200);
  expect(slack.replies).toMatchObject([{ body: { response_type: 'ephemeral' } }]);
  expect((await scene.get(attacker.token, `organizations/${organization}/slack-app`)).status).toBe(404);
});

it('no one else reads or changes the Slack app, whose secrets are in no answer', async () => {
  const { token } = await member();
  const path = `organizations/${organization}/slack-app`;
  for (const method of ['GET', 'DELETE']) expect((await scene.call(token, method, path)).status).toBe(403);
  const put = await scene.call(token, 'PUT', path, { data: { attributes: slack.app } });
  expect(put.status).toBe(403);
  for (const answer of [await scene.get(owner, path), await scene.get(owner, 'account/slack-links')]) {
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).not.toContain(signingSecret);
  }
});

it.each([
  ['GET', 404],
  ['PUT', 404],
])('%s of clicks is no route', async (method, status) => {
  expect((await fetch(app.attributes['interactions-url'], { method })).status).toBe(status);
});
