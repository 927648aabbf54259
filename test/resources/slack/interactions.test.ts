import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunEvent } from '#run/notifications/run.ts';
import { makeOrganization } from '#test/resources/ip-allowlists/support.ts';
import { startApi } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { judgedRuns, noLargeMachines } from '#test/support/policy-runs.ts';
import { runHelpers } from '#test/support/runs.ts';
import { clickOf, signed, signingSecret, startSlack } from '#test/support/slack.ts';
import { click, connect, setApp } from './support.ts';

/** Decisions by buttons in Slack. */

const api = await startApi();
const slack = await startSlack();
process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
const runs = await runHelpers(api);
const members = await memberHelpers();
const notify = (await import('#resources/notifications/handler.ts')).handler;
const appId = await setApp(api, slack);
await connect(api, slack, appId, 'U0WNER', api.token);

beforeEach(() => {
  slack.replies.length = 0;
  slack.status = 200;
});

const waiting = async (attributes: object = {}) => {
  const { id: workspace } = await runs.ready(attributes);
  const { id } = await runs.create(workspace);
  await runs.bring(id, { status: 'planned' });
  return id as string;
};
const statusOf = async (id: string) => (await runs.store.getRun(id))?.status;
const decisionOf = async (id: string) => (await runs.store.getRun(id))?.decision;
const by = (runId: string, more: object = {}) => ({
  choice: 'apply',
  runId,
  user: 'U0WNER',
  replyUrl: slack.replyUrl,
  ...more,
});
const said = () => slack.replies.map(({ body }) => body);
const trail = async (action: string, runId: string) => {
  const { data } = (await api.get('organization/audit-trail?page[size]=1000', { token: await auditToken() })).body;
  return data.filter(
    (event: { resource: { id: string; action: string } }) =>
      event.resource.id === runId && event.resource.action === action,
  );
};
let audit: string | undefined;
const auditToken = async (): Promise<string> => {
  audit ??= (await api.post('organizations/acme/authentication-token?token=audit-trails')).body.data.attributes.token;
  return audit as string;
};

describe('a click of a connected user', () => {
  it('confirms the run, with the way in timeline and audit trail, and replaces the message', async () => {
    const id = await waiting();
    const answer = await click(api, appId, by(id));
    expect([answer.status, answer.body]).toEqual([200, undefined]);
    expect(await decisionOf(id)).toMatchObject({ action: 'apply', by: api.userId });
    expect(said()).toEqual([expect.objectContaining({ replace_original: true })]);
    const shown = JSON.stringify(said()[0]);
    expect(shown).toContain('Run confirmed');
    expect(shown).toContain('Decided by: owner');
    expect(shown).toContain(`/runs/${id}|`);
    expect(shown).not.toContain('"actions"');
    const { included } = (await api.get(`runs/${id}/run-events?include=comment`)).body;
    expect(included[0].attributes.body).toBe('By a button in Slack, as user U0WNER of workspace T0001.');
    const [event] = await trail('apply', id);
    expect(event).toMatchObject({
      auth: { accessor_id: api.userId },
      resource: {
        meta: {
          token_kind: 'slack',
          slack_user: 'U0WNER',
          slack_workspace: 'T0001',
          outcome: 'allowed',
          user_agent: expect.stringContaining('Slackbot'),
        },
      },
    });
  });

  it('discards the run', async () => {
    const id = await waiting();
    await click(api, appId, by(id, { choice: 'discard' }));
    expect(await decisionOf(id)).toMatchObject({ action: 'discard', by: api.userId });
    expect(JSON.stringify(said())).toContain('Run discarded');
  });

  it('sent again by an attacker changes nothing', async () => {
    const id = await waiting();
    for (const _ of [1, 2]) expect((await click(api, appId, by(id))).status).toBe(200);
    const { data } = (await api.get(`runs/${id}/run-events`)).body;
    const actions = data.map(({ attributes }: { attributes: { action: string } }) => attributes.action);
    expect(actions.filter((action: string) => action === 'confirmed')).toHaveLength(1);
  });

  it('on a run that another user decided before shows that decision instead', async () => {
    const id = await waiting();
    expect((await api.call('POST', `runs/${id}/actions/discard`, { body: {} })).status).toBe(202);
    await click(api, appId, by(id));
    expect(await decisionOf(id)).toMatchObject({ action: 'discard' });
    expect(said()).toEqual([expect.objectContaining({ replace_original: true })]);
    expect(JSON.stringify(said())).toContain('Run discarded');
  });

  it('on a run that is not waiting changes nothing', async () => {
    const { id: workspace } = await runs.ready();
    const { id } = await runs.create(workspace);
    await runs.bring(id, { status: 'applying' });
    await click(api, appId, by(id, { choice: 'override' }));
    await click(api, appId, by(id));
    expect([await statusOf(id), await decisionOf(id)]).toEqual(['applying', undefined]);
  });

  it('decides although Slack does not accept the reply', async () => {
    const id = await waiting();
    slack.status = 500;
    expect((await click(api, appId, by(id))).status).toBe(200);
    expect(await statusOf(id)).toBe('confirmed');
  });

  it('is not reported as refused when the platform fails', async () => {
    for (let call = 1; call <= 12; call++) {
      const id = await waiting();
      api.aws.failCall(call, 'before');
      const { status } = await click(api, appId, by(id));
      api.aws.failCall(0, 'before');
      expect(status === 500 || (await decisionOf(id)) !== undefined, `call ${call} fails`).toBe(true);
      expect(said()).not.toContainEqual(expect.objectContaining({ response_type: 'ephemeral' }));
    }
  });

  it.each([
    'http://127.0.0.1:9/actions',
    'https://hooks.slack.com.attacker.test/actions',
    'https://user@hooks.slack.com/actions',
    'http://169.254.169.254/latest/meta-data',
    'file:///etc/passwd',
    'nothing',
  ])('sends no reply to %s', async (replyUrl) => {
    const id = await waiting();
    expect((await click(api, appId, by(id, { replyUrl }))).status).toBe(200);
    expect(await statusOf(id)).toBe('confirmed');
    expect(slack.replies).toEqual([]);
  });
});

it.each([
  ['https://hooks.slack.com/actions/T1/2/abc', true],
  ['https://hooks.slack.com:443/actions/T1/2/abc', true],
  ['http://hooks.slack.com/actions', false],
  ['https://hooks.slack.com:8443/actions', false],
  ['https://slack.com/actions', false],
  ['https://hooks.slack.com.attacker.test/actions', false],
  ['https://attacker.test/hooks.slack.com', false],
  ['https://hooks.slack-gov.com/actions', false],
  ['https://user@hooks.slack.com/actions', false],
  ['https://user:password@hooks.slack.com/actions', false],
  ['https://:password@hooks.slack.com/actions', false],
  ['http://127.0.0.1:9/actions', false],
  ['javascript:alert(1)', false],
])('a reply goes to Slack only: %s %s', async (url, allowed) => {
  const { isReplyUrl } = await import('#resources/slack/address.ts');
  expect(isReplyUrl(url, 'https://slack.com')).toBe(allowed);
});

describe('an override', () => {
  it.each(['policyCheck', 'policyEvaluation'] as const)(
    'of a failed %s is recorded with the way it came',
    async (which) => {
      const judged = await judgedRuns(api);
      const level = which === 'policyCheck' ? 'soft-mandatory' : 'mandatory';
      const { workspaceId } = await judged.guarded(noLargeMachines, level, { overridable: true });
      const run = await judged.planned(workspaceId);
      const { verdict } = await (which === 'policyCheck' ? judged.checkPolicies(run) : judged.evaluatePolicies(run));
      const status = which === 'policyCheck' ? 'policy_override' : 'post_plan_awaiting_decision';
      await judged.verdict(run, which, status, verdict);
      await click(api, appId, by(run.id, { choice: 'override' }));
      expect((await judged.read(run.id)).overrides?.[which]).toMatchObject({
        by: api.userId,
        comment: expect.stringContaining('Slack'),
      });
      expect(JSON.stringify(said())).toContain('Policies overridden');
      await click(api, appId, by(run.id, { choice: 'override' }));
      expect(said()[1]).toMatchObject({ replace_original: true });
    },
  );
});

describe('nothing happens, and only the user who clicked learns why, after a click', () => {
  const refused = async (id: string, more: object) => {
    expect((await click(api, appId, by(id, more))).status).toBe(200);
    expect([await statusOf(id), await decisionOf(id)]).toEqual(['planned', undefined]);
    const [reply, other] = said();
    expect(other).toBeUndefined();
    expect(reply).toMatchObject({ response_type: 'ephemeral', replace_original: false });
    return reply.text as string;
  };

  it('of an account that is not connected', async () => {
    expect(await refused(await waiting(), { user: 'U0THER' })).toMatch(/not connected.*\/app\/settings\/tokens/);
  });

  it('of a user of another Slack workspace, also in a shared channel', async () => {
    const id = await waiting();
    expect(await refused(id, { workspace: 'T0002' })).toMatch(/Only users of the Slack workspace/);
    slack.replies.length = 0;
    expect(await refused(id, { userWorkspace: 'T0002' })).toMatch(/Only users of the Slack workspace/);
  });

  it.each([
    ['plan', /needs the permission run:apply/],
    ['read', /needs the permission run:apply/],
  ] as const)('of a user with level %s, recorded as refused', async (level, why) => {
    const user = await members.withLevel('acme', level);
    await connect(api, slack, appId, `U${level.toUpperCase()}`, user.token);
    const id = await waiting();
    expect(await refused(id, { user: `U${level.toUpperCase()}` })).toMatch(why);
    const [event] = await trail('apply', id);
    expect(event.resource.meta).toMatchObject({ outcome: 'refused', token_kind: 'slack' });
  });

  it('of a member without access to the workspace, who learns nothing about the run', async () => {
    const user = await members.member('acme');
    await connect(api, slack, appId, 'UMEMBER', user.token);
    const id = await waiting();
    expect(await refused(id, { user: 'UMEMBER' })).toBe(`Run ${id} not found, or you don't have access.`);
  });

  it('of a user with permission to apply and not to override', async () => {
    const user = await members.withLevel('acme', 'write');
    await connect(api, slack, appId, 'UWRITE', user.token);
    const judged = await judgedRuns(api);
    const { workspaceId } = await judged.guarded(noLargeMachines, 'soft-mandatory');
    const run = await judged.planned(workspaceId);
    const { verdict } = await judged.checkPolicies(run);
    await judged.verdict(run, 'policyCheck', 'policy_override', verdict);
    await click(api, appId, by(run.id, { choice: 'override', user: 'UWRITE' }));
    expect((await judged.read(run.id)).overrides).toEqual({});
    expect(said()[0].text).toMatch(/run:override-policy/);
  });

  it('on a run of another organization', async () => {
    const owner = await members.newUser('elsewhere');
    const home = await api.call('POST', 'organizations', {
      token: owner.token,
      body: { data: { attributes: { name: 'elsewhere', email: 'a@b.test' } } },
    });
    expect(home.status).toBe(201);
    // The person can apply there, but the click belongs to acme.
    const { addMember } = await import('#resources/users/memberships.ts');
    await addMember('elsewhere', api.userId, 'owner');
    const workspace = (await api.post('organizations/elsewhere/workspaces', { name: 'theirs' })).body.data.id;
    await api.configuration(workspace);
    const { id } = await runs.create(workspace);
    await runs.bring(id, { status: 'planned' });
    expect(await refused(id, {})).toBe('This run does not exist any more.');
  });

  it('of a user whose membership ended', async () => {
    const user = await members.withLevel('acme', 'write');
    await connect(api, slack, appId, 'ULEFT', user.token);
    const { removeMember, addMember } = await import('#resources/users/memberships.ts');
    await removeMember({ organization: 'acme', userId: user.id });
    const id = await waiting();
    expect(await refused(id, { user: 'ULEFT' })).toMatch(/not connected/);
    await addMember('acme', user.id, 'owner');
    slack.replies.length = 0;
    expect(await refused(id, { user: 'ULEFT' })).toMatch(/not connected/);
  });

  it.each([
    [{ withoutUserTokens: true }, /accepts no API tokens of users/],
    [{ ssoRequired: 'unlinked' }, /requires single sign-on/],
    [{ tokensUntil: '2020-01-01T00:00:00.000Z' }, /last sign-in is too long ago/],
    [{ tokensFrom: '2999-01-01T00:00:00.000Z' }, /Connect Slack again/],
    [{ tokenLimits: { user: -86_400_000 * 400 } }, /longer ago than this organization allows/],
  ])('where the organization would refuse the API token of the user: %j', async (set, why) => {
    const user = await members.withLevel('acme', 'write');
    await connect(api, slack, appId, 'URULES', user.token);
    const { update } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    await update(keys.membership(user.id, 'acme'), { set });
    expect(await refused(await waiting(), { user: 'URULES' })).toMatch(why);
  });

  it('of a member of an organization with an IP allowlist, even if it contains the address of Slack', async () => {
    const { name, members: people, addList, workspace } = await makeOrganization(api);
    const other = await setApp(api, slack, {}, name);
    const user = await people.withLevel(name, 'write');
    await connect(api, slack, other, 'UADDRESS', user.token, name);
    await api.configuration(workspace);
    const { id } = await runs.create(workspace);
    await runs.bring(id, { status: 'planned' });
    const list = await addList('organization', '192.0.2.1/32');
    await click(api, other, by(id, { user: 'UADDRESS' }));
    expect([said()[0].text, await decisionOf(id)]).toEqual([expect.stringContaining('IP allowlist'), undefined]);
    // Without it, the same click decides.
    expect((await api.call('DELETE', `cidr-range-lists/${list}`)).status).toBe(204);
    await click(api, other, by(id, { user: 'UADDRESS' }));
    expect(await decisionOf(id)).toMatchObject({ action: 'apply', by: user.id });
  });
});

describe('a request is refused before its content is read', () => {
  const unsignedBy = async (change: Record<string, string>, how: object = {}) => {
    const id = await waiting();
    const body = clickOf(by(id));
    const headers = { ...signed(body, how), ...change };
    const answer = await api.call('POST', `/slack/${appId}/interactions`, { token: null, body, headers });
    expect([answer.status, await statusOf(id), slack.replies]).toEqual([401, 'planned', []]);
  };

  it.each([
    [{ 'x-slack-signature': '' }],
    [{ 'x-slack-signature': `v0=${'0'.repeat(64)}` }],
    [{ 'x-slack-request-timestamp': '' }],
    [{ 'x-slack-request-timestamp': 'NaN' }],
    [{ 'x-slack-request-timestamp': '1e9' }],
  ])('with the headers %j', (change) => unsignedBy(change));

  it('signed with another secret', () => unsignedBy({}, { secret: 'another secret of an app' }));
  it('older than five minutes', () => unsignedBy({}, { atMs: Date.now() - 301_000 }));
  it('from more than five minutes ahead', () => unsignedBy({}, { atMs: Date.now() + 302_000 }));

  it.each([
    [300, true],
    [-300, true],
    [300.001, false],
    [-300.001, false],
  ])('made %s seconds ago: accepted is %s', async (age, accepted) => {
    const { isSignedBySlack } = await import('#resources/slack/signature.ts');
    const atMs = 1_800_000_000_000;
    const headers = signed('a=b', { atMs });
    const request = {
      timestamp: headers['x-slack-request-timestamp'] ?? '',
      signature: headers['x-slack-signature'] ?? '',
      body: Buffer.from('a=b'),
    };
    expect(isSignedBySlack(request, signingSecret, atMs + age * 1000)).toBe(accepted);
  });

  it('almost five minutes old is accepted', async () => {
    const id = await waiting();
    await click(api, appId, by(id), { atMs: Date.now() - 295_000 });
    expect(await statusOf(id)).toBe('confirmed');
  });

  it('with a body that was changed after it was signed', async () => {
    const [id, other] = [await waiting(), await waiting()];
    const headers = signed(clickOf(by(id)));
    const body = clickOf(by(other));
    const answer = await api.call('POST', `/slack/${appId}/interactions`, { token: null, body, headers });
    expect([answer.status, await statusOf(other)]).toEqual([401, 'planned']);
  });

  it('that is larger than 100 KB', async () => {
    const body = `payload=${'x'.repeat(100_001)}`;
    const answer = await api.call('POST', `/slack/${appId}/interactions`, { token: null, body, headers: signed(body) });
    expect(answer.status).toBe(413);
  });

  it('to an app that does not exist, like one of an organization without an app', async () => {
    expect((await click(api, 'slackapp-unknown', by('run-x'))).status).toBe(404);
  });
});

it.each(['payload=no-json', 'payload=%7B%22type%22%3A%22view_submission%22%7D', 'nothing=1', ''])(
  'signed interactions without a button of this platform have no effect: %s',
  async (body) => {
    const answer = await api.call('POST', `/slack/${appId}/interactions`, { token: null, body, headers: signed(body) });
    expect([answer.status, slack.replies]).toEqual([200, []]);
  },
);

it.each([{ runId: 'r'.repeat(3000) }, { user: 'U'.repeat(3000) }])(
  'ids that are too long have no effect',
  async (change) => {
    const answer = await click(api, appId, by('run-x', change));
    expect([answer.status, slack.replies]).toEqual([200, []]);
  },
);

describe('a message of a run that waits', () => {
  const announced = async (type: string, status: RunEvent['status'] = 'planned') => {
    const id = await waiting();
    const run = await runs.store.getRun(id);
    const values = { name: 'n', 'destination-type': type, url: `${slack.url}/actions/hook`, enabled: true };
    const made = await api.post(`workspaces/${run?.workspaceId}/notification-configurations`, {
      ...values,
      triggers: ['run:needs_attention'],
    });
    expect(made.status).toBe(201);
    slack.replies.length = 0;
    await notify({ kind: 'run', id, runId: id, trigger: 'run:needs_attention', status });
    return { id, body: said()[0] };
  };

  it('has the buttons that the run accepts now, with its id as their value', async () => {
    const { id, body } = await announced('slack');
    const { elements } = body.blocks.at(-1);
    expect(elements.map((one: { action_id: string; value: string }) => [one.action_id, one.value])).toEqual([
      ['stepform-apply', id],
      ['stepform-discard', id],
    ]);
  });

  it('in Teams has one button, which opens the run', async () => {
    const { id, body } = await announced('microsoft-teams');
    expect(body.potentialAction).toEqual([
      {
        '@type': 'OpenUri',
        name: 'Confirm or Discard …',
        targets: [{ os: 'default', uri: expect.stringContaining(`/runs/${id}`) }],
      },
    ]);
  });

  it('has no buttons without a Slack app, whose removal ends every connection', async () => {
    const id = await waiting();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 });
    expect((await api.call('DELETE', 'organizations/acme/slack-app')).status).toBe(204);
    expect((await click(api, appId, by(id))).status).toBe(404);
    const { body } = await announced('slack');
    expect(JSON.stringify(body)).not.toContain('stepform-');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 });
    expect(await setApp(api, slack)).toBe(appId);
    slack.replies.length = 0;
    await click(api, appId, by(id));
    expect([said()[0].text, await statusOf(id)]).toEqual([expect.stringContaining('not connected'), 'planned']);
    vi.useRealTimers();
  });
});
