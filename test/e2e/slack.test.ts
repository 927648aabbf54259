import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { clickOf, signed, startSlack } from '#test/support/slack.ts';
import { until } from './support/waiting.ts';
import { client, newWorkspace, organization, platform, resources, startRun, untilFinal } from './support/world.ts';

/** A run confirmed by a button in Slack: the message, the connected account, the click, and the message afterwards. */

const slack = await startSlack();

const connect = async (path: string): Promise<void> => {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked = { client_id: 'page', code_challenge: challenge, code_challenge_method: 'S256' };
  const begun = await fetch(`${platform.url}${path}?${new URLSearchParams(asked)}`, { redirect: 'manual' });
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const back = await slack.issuer.visit(begun.headers.get('location') ?? '');
  const came = await fetch(back, { redirect: 'manual', headers: { cookie } });
  const code = new URLSearchParams(came.headers.get('location')?.split('#')[1]).get('code') ?? '';
  const attributes = { code, 'code-verifier': verifier };
  await client.call('PUT', `/organizations/${organization}/slack-link`, { data: { attributes } });
};

it('a member connects Slack, and confirms a run by the button of its message', async () => {
  const path = `/organizations/${organization}/slack-app`;
  const { data: app } = await client.call('PUT', path, { data: { attributes: slack.app } });
  const { 'interactions-url': interactions, 'redirect-url': redirect } = app.attributes;
  slack.issuer.trust(redirect);
  slack.signIn('U1');
  const [link] = await client.list('/account/slack-links');
  await connect(link?.attributes['connect-path']);

  const workspace = await newWorkspace();
  const hook = {
    name: 'channel',
    'destination-type': 'slack',
    url: `${slack.url}/actions/hook`,
    enabled: true,
    triggers: ['run:needs_attention'],
  };
  const configurations = `/workspaces/${workspace.id}/notification-configurations`;
  await client.call('POST', configurations, { data: { type: 'notification-configurations', attributes: hook } });
  const run = await startRun(workspace, { 'main.tf': resources(['a']) });
  const sent = async () => slack.replies.find(({ body }) => JSON.stringify(body).includes(run.id))?.body;
  const message = await until(sent, (body) => body !== undefined);
  const { elements } = message.blocks.at(-1);
  const confirm = elements.find(({ text }: { text: { text: string } }) => text.text === 'Confirm');
  expect(confirm).toMatchObject({ action_id: 'stepform-apply', value: run.id });

  slack.replies.length = 0;
  const body = clickOf({ choice: 'apply', runId: confirm.value, user: 'U1', replyUrl: slack.replyUrl });
  const clicked = await fetch(interactions, { method: 'POST', headers: signed(body), body });
  expect([clicked.status, await clicked.text()]).toEqual([200, '']);
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  expect(slack.replies).toEqual([{ path: new URL(slack.replyUrl).pathname, body: expect.any(Object) }]);
  expect(slack.replies[0]?.body.replace_original).toBe(true);
  expect(JSON.stringify(slack.replies)).toContain('Run confirmed');
  const events = await client.list(`/runs/${run.id}/run-events`);
  expect(events.map(({ attributes }) => attributes.action)).toContain('confirmed');
  await client.call('DELETE', path);
});
