import { describe, expect, it, vi } from 'vitest';
import { detailOf, pointerOf, startApi } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { startSlack } from '#test/support/slack.ts';
import { connect, setApp, Tab } from './support.ts';

/** Slack apps of organizations, and Slack accounts that members connect. */

const api = await startApi();
const slack = await startSlack();
process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
const members = await memberHelpers();
const appId = await setApp(api, slack);

const linksOf = async (token: string) => (await api.get('account/slack-links', { token })).body.data;
const userIdOf = async (token: string) => (await linksOf(token))[0]?.attributes['user-id'];

describe('the Slack app of an organization', () => {
  const path = 'organizations/acme/slack-app';

  it('shows the addresses that Slack needs, and never its secrets', async () => {
    const { body } = await api.get(path);
    expect(body.data).toMatchObject({
      id: appId,
      type: 'slack-apps',
      attributes: {
        'team-id': 'T0001',
        'client-id': 'stepform',
        'client-secret': null,
        'signing-secret': null,
        'interactions-url': `${process.env.PUBLIC_URL}/slack/${appId}/interactions`,
        'redirect-url': `${process.env.PUBLIC_URL}/slack/${appId}/callback`,
      },
    });
    expect(JSON.stringify(body)).not.toContain(slack.app['signing-secret']);
  });

  it.each([
    ['url', 'https://attacker.test'],
    ['url', 'https://slack.com/'],
    ['url', 'http://10.0.0.1'],
    ['team-id', 'E0001'],
    ['team-id', 'T1/../x'],
    ['client-id', 'a b'],
    ['signing-secret', 'short'],
    ['no-such', 'x'],
  ])('refuses the attribute %s with the value %s', async (name, value) => {
    const body = { data: { attributes: { ...slack.app, [name]: value } } };
    const answer = await api.call('PUT', path, { body });
    expect(pointerOf(answer)).toEqual([422, `/data/attributes/${name}`]);
  });

  it('keeps secrets that a change leaves out, unless it changes the address that they go to', async () => {
    const { 'client-secret': _, 'signing-secret': __, ...rest } = slack.app;
    const change = async (attributes: object) => api.call('PUT', path, { body: { data: { attributes } } });
    expect((await change(rest)).status).toBe(200);
    const moved = await change({ ...rest, url: 'https://slack-gov.com' });
    expect(detailOf(moved)).toEqual([422, 'client-secret: is missing']);
    const half = await change({
      ...rest,
      url: 'https://slack-gov.com',
      'client-secret': 'another secret of the client',
    });
    expect(detailOf(half)).toEqual([422, 'signing-secret: is missing']);
    await connect(api, slack, appId, 'U1', api.token);
  });

  it('is set up by owners only', async () => {
    const admin = await members.withLevel('acme', 'admin');
    const { token } = (await api.post('organizations/acme/authentication-token')).body.data.attributes;
    for (const caller of [admin.token, token]) {
      expect((await api.get(path, { token: caller })).status).toBe(403);
      const body = { data: { attributes: slack.app } };
      expect((await api.call('PUT', path, { token: caller, body })).status).toBe(403);
      expect((await api.call('DELETE', path, { token: caller })).status).toBe(403);
    }
  });

  it('needs its secrets at first, and answers 404 where there is none', async () => {
    await api.post('organizations', { name: 'without', email: 'a@b.test' });
    expect((await linksOf(api.token)).map(({ id }: { id: string }) => id)).toEqual([appId]);
    const other = 'organizations/without/slack-app';
    expect((await api.get(other)).status).toBe(404);
    const { 'client-secret': _, ...rest } = slack.app;
    expect((await api.call('PUT', other, { body: { data: { attributes: rest } } })).status).toBe(422);
    for (const path of ['connect', 'callback']) {
      expect((await api.call('GET', `/slack/slackapp-unknown/${path}`, { token: null })).status).toBe(404);
    }
    expect(
      (
        await api.call('PUT', 'organizations/without/slack-link', {
          body: { data: { attributes: { code: 'x', 'code-verifier': 'y' } } },
        })
      ).status,
    ).toBe(404);
  });
});

describe('a member', () => {
  it('connects, sees and disconnects a Slack account', async () => {
    const user = await members.withLevel('acme', 'plan');
    expect(await linksOf(user.token)).toMatchObject([
      { id: appId, attributes: { 'user-id': null, 'linked-at': null, 'connect-path': `/slack/${appId}/connect` } },
    ]);
    await connect(api, slack, appId, 'U2', user.token);
    expect(await userIdOf(user.token)).toBe('U2');
    const path = 'organizations/acme/slack-link';
    expect((await api.call('DELETE', path, { token: user.token })).status).toBe(204);
    expect(await userIdOf(user.token)).toBeNull();
    const { get } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    expect(await get(keys.slackUser('acme', 'T0001', 'U2'))).toBeUndefined();
    expect((await api.call('DELETE', path, { token: user.token })).status).toBe(404);
  });

  it('who proves an account takes it over from another member', async () => {
    const [first, second] = [await members.withLevel('acme', 'plan'), await members.withLevel('acme', 'read')];
    await connect(api, slack, appId, 'U3', first.token);
    await connect(api, slack, appId, 'U3', second.token);
    expect([await userIdOf(first.token), await userIdOf(second.token)]).toEqual([null, 'U3']);
  });

  it('sees no link that was made with another Slack workspace', async () => {
    const user = await members.withLevel('acme', 'plan');
    await connect(api, slack, appId, 'U4', user.token);
    await setApp(api, slack, { 'team-id': 'T0009' });
    expect(await userIdOf(user.token)).toBeNull();
    await setApp(api, slack);
    expect(await userIdOf(user.token)).toBe('U4');
  });
});

describe('a connection is refused', () => {
  it('to a user of another Slack workspace', async () => {
    slack.signIn('U5', 'T0002');
    await expect(new Tab(api, slack, appId).code()).rejects.toThrow(/403.*another Slack workspace/s);
  });

  it('without an account of Slack in the ID token', async () => {
    slack.issuer.account = { sub: 'U5', own: { 'https://slack.com/team_id': 'T0001' } };
    await expect(new Tab(api, slack, appId).code()).rejects.toThrow(/502/);
  });

  it('in another browser than the one that began it', async () => {
    slack.signIn('U5');
    const tab = new Tab(api, slack, appId);
    const back = await slack.issuer.visit((await tab.begin()).headers.location ?? '');
    const came = await tab.open(`${back.pathname}${back.search}`);
    expect([came.status, came.body]).toEqual([400, expect.stringContaining('another browser')]);
  });

  it('with the code of another tab, another organization, or a code that was used', async () => {
    slack.signIn('U6');
    const tab = new Tab(api, slack, appId);
    const foreign = await new Tab(api, slack, appId).redeem(await tab.code(), api.token);
    expect(foreign.status).toBe(400);
    const code = await tab.code();
    const other = await tab.redeem(code, api.token, 'without');
    expect(other.status).toBe(404);
    expect((await tab.redeem(code, api.token)).status).toBe(200);
    expect((await tab.redeem(code, api.token)).status).toBe(400);
  });

  it('after the code has expired', async () => {
    slack.signIn('U6');
    const tab = new Tab(api, slack, appId);
    const code = await tab.code();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 121_000 });
    expect((await tab.redeem(code, api.token)).status).toBe(400);
    vi.useRealTimers();
  });

  it('to a token of the organization, and to a user who is no member', async () => {
    slack.signIn('U7');
    const { token } = (await api.post('organizations/acme/authentication-token')).body.data.attributes;
    const stranger = await members.newUser('stranger');
    const tab = new Tab(api, slack, appId);
    expect((await tab.redeem(await tab.code(), token)).status).toBe(403);
    expect((await tab.redeem(await tab.code(), stranger.token)).status).toBe(404);
    expect(await linksOf(stranger.token)).toEqual([]);
  });

  it('to terraform login, whose redirect would receive the code', async () => {
    const asked = {
      client_id: 'terraform-cli',
      response_type: 'code',
      redirect_uri: 'http://localhost:10000/login',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      state: 's',
    };
    const answer = await api.call('GET', `/slack/${appId}/connect?${new URLSearchParams(asked)}`, { token: null });
    expect(answer.status).toBe(400);
  });
});

it('the code of a connection signs no one in', async () => {
  slack.signIn('U8');
  const tab = new Tab(api, slack, appId);
  const form = {
    grant_type: 'authorization_code',
    code: await tab.code(),
    code_verifier: tab.verifier,
    redirect_uri: 'page',
  };
  const answer = await api.call('POST', '/oauth/token', { token: null, body: new URLSearchParams(form).toString() });
  expect([answer.status, answer.body.error]).toEqual([400, 'invalid_grant']);
});

it('the deletion of an organization deletes its Slack app and links', async () => {
  await api.post('organizations', { name: 'ending', email: 'a@b.test' });
  const ending = await setApp(api, slack, {}, 'ending');
  await connect(api, slack, ending, 'U9', api.token, 'ending');
  expect((await api.call('DELETE', 'organizations/ending')).status).toBe(204);
  const { queryAll, get } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  expect(await queryAll({ pk: keys.organization('ending').pk, prefix: 'SLACK' })).toEqual([]);
  expect(await get(keys.slackAppId(ending))).toBeUndefined();
});
