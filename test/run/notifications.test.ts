import { describe, expect, it } from 'vitest';
import { notificationBody } from '#run/notifications/formats.ts';
import { authorOf, notificationOf, runMessage, verificationMessage } from '#run/notifications/run.ts';
import type { Run } from '#run/run.ts';
import { type RunStatus, runStatuses } from '#run/status.ts';
import { newRun } from '#test/support/run.ts';

const report = { outcome: 'finished', hasChanges: true, counts: { additions: 2, changes: 1 } } as const;
const planned: Partial<Run> = { plan: { status: 'finished', statusTimestamps: {}, report } };

describe('a run that reaches a status', () => {
  const told = (change: Partial<Run>) => notificationOf(newRun(change))?.trigger;

  it('sends a notification for its trigger only', () => {
    const expected: Partial<Record<RunStatus, string>> = {
      pending: 'run:created',
      planning: 'run:planning',
      post_plan_awaiting_decision: 'run:needs_attention',
      policy_override: 'run:needs_attention',
      planned: 'run:needs_attention',
      post_plan_completed: 'run:needs_attention',
      cost_estimated: 'run:needs_attention',
      policy_checked: 'run:needs_attention',
      applying: 'run:applying',
      applied: 'run:completed',
      planned_and_finished: 'run:completed',
      errored: 'run:errored',
      canceled: 'run:errored',
      discarded: 'run:errored',
    };
    for (const status of runStatuses) expect([status, told({ status })]).toEqual([status, expected[status]]);
  });

  it('needs no attention after a decision', () => {
    const decision = { action: 'discard', by: 'user-1', at: '2026-01-01T00:00:00.000Z' } as const;
    for (const status of ['planned', 'policy_override'] as const) expect(told({ status, decision })).toBeUndefined();
  });

  it('sends no notifications when it is plan-only', () => {
    for (const status of runStatuses) expect(told({ status, planOnly: true })).toBeUndefined();
  });
});

const facts = { configurationId: 'nc-1', createdBy: 'ada', updatedBy: 'bob', baseUrl: 'https://tf.test' };
const sent = (change: Partial<Run>, status: RunStatus, about = facts) => {
  const run = newRun({ ...change, status });
  return runMessage(run, notificationOf(run) as NonNullable<ReturnType<typeof notificationOf>>, about);
};
const payloadOf = (change: Partial<Run>, status: RunStatus) => sent(change, status).payload;
const messageOf = (status: RunStatus, change: Partial<Run> = planned) =>
  payloadOf(change, status).notifications[0]?.message;

it('the payload has the fields that HCP Terraform documents', () => {
  const statusTimestamps = { 'applying-at': '2026-01-01T00:05:00.000Z' };
  expect(payloadOf({ ...planned, message: 'm', statusTimestamps }, 'applying')).toEqual({
    payload_version: 1,
    notification_configuration_id: 'nc-1',
    run_url: 'https://tf.test/app/acme/workspaces/network/runs/run-aaaaaaaaaaaaaaaa',
    run_id: 'run-aaaaaaaaaaaaaaaa',
    run_message: 'm',
    run_created_at: '2026-01-01T00:00:00.000Z',
    run_created_by: 'ada',
    workspace_id: 'ws-aaaaaaaaaaaaaaaa',
    workspace_name: 'network',
    organization_name: 'acme',
    notifications: [
      {
        message: 'Run applying: 2 to add, 1 to change, 0 to destroy',
        trigger: 'run:applying',
        run_status: 'applying',
        run_updated_at: '2026-01-01T00:05:00.000Z',
        run_updated_by: 'bob',
      },
    ],
  });
});

it.each<[RunStatus, string]>([
  ['pending', 'Run created'],
  ['planning', 'Run planning'],
  ['planned', 'Run planned: 2 to add, 1 to change, 0 to destroy. Confirm or discard it'],
  [
    'policy_override',
    'Run planned: 2 to add, 1 to change, 0 to destroy. Policies failed: override them or discard the run',
  ],
  ['applied', 'Run applied'],
  ['planned_and_finished', 'Run planned and finished'],
  ['errored', 'Run errored before applying: not planned'],
  ['canceled', 'Run canceled'],
  ['discarded', 'Run discarded'],
])('the message of status %s is: %s', (status, message) => {
  expect(messageOf(status)).toBe(message);
});

it('the message of a run shows the changes of an apply, and the phase of an error', () => {
  const apply = { status: 'finished', statusTimestamps: {}, report } as const;
  expect(messageOf('applied', { apply })).toBe('Run applied: 2 added, 1 changed, 0 destroyed');
  expect(messageOf('errored', { apply: { ...apply, status: 'errored' } })).toBe('Run errored while applying');
  expect(messageOf('planned_and_finished', {})).toBe('Run planned and finished: no changes');
});

it('the author of a status is the user who caused it', () => {
  const at = '';
  expect(authorOf(newRun({ createdBy: 'a' }), 'pending')).toBe('a');
  expect(authorOf(newRun({ decision: { action: 'apply', by: 'b', at } }), 'applying')).toBe('b');
  expect(authorOf(newRun({ decision: { action: 'discard', by: 'c', at } }), 'discarded')).toBe('c');
  expect(authorOf(newRun({ cancel: { by: 'd', at, forceAvailableAt: at } }), 'canceled')).toBe('d');
  expect(authorOf(newRun({ decision: { action: 'apply', by: 'b', at } }), 'applied')).toBeUndefined();
});

describe('hostile names and messages', () => {
  const hostile = 'x>|<!channel> <https://evil.test|click> & </a>\n# _b_';
  const names = { message: hostile, workspaceName: '<!here>' };
  const message = sent(names, 'errored', { ...facts, createdBy: hostile });

  it('stay text in Slack', () => {
    const body = notificationBody('slack', message) as {
      text: string;
      blocks: { text?: { text: string; type: string }; elements?: { type: string; text: string }[] }[];
    };
    const title = '&lt;!here&gt;: Run errored before applying: not planned';
    expect(body.text).toBe(title);
    const [section, context] = body.blocks;
    expect(section?.text?.text).toBe(`<${encodeURI(message.payload.run_url ?? '')}|${title}>`);
    // User input is in elements without markup, each on one line.
    expect(context?.elements?.map(({ type }) => type)).toEqual([
      'plain_text',
      'plain_text',
      'plain_text',
      'plain_text',
      'plain_text',
    ]);
    expect(context?.elements?.[2]?.text).toBe('Run: x>|<!channel> <https://evil.test|click> & </a> # _b_');
  });

  it('stay text in Teams', () => {
    const body = notificationBody('microsoft-teams', message) as {
      title: string;
      sections: { markdown: boolean; facts: { name: string; value: string }[] }[];
      potentialAction: { targets: { uri: string }[] }[];
    };
    expect(JSON.stringify(body)).not.toMatch(/[<>]/);
    expect(body.sections[0]?.markdown).toBe(false);
    expect(body.sections[0]?.facts[2]).toEqual({
      name: 'Run',
      value: 'x&gt;|&lt;!channel&gt; &lt;https://evil.test|click&gt; &amp; &lt;/a&gt; # _b_',
    });
    expect(body.potentialAction[0]?.targets[0]?.uri).toBe(encodeURI(message.payload.run_url ?? ''));
  });

  it('are truncated', () => {
    const long = sent({ ...names, message: 'a'.repeat(10_000) }, 'errored');
    for (const type of ['slack', 'microsoft-teams'] as const)
      expect(JSON.stringify(notificationBody(type, long)).length).toBeLessThan(3000);
  });
});

it('a verification has no run, in every format', () => {
  const message = verificationMessage('nc-1', 'Chat');
  expect(message.payload).toMatchObject({
    run_id: null,
    workspace_id: null,
    notifications: [{ trigger: 'verification' }],
  });
  expect(notificationBody('generic', message)).toBe(message.payload);
  expect(notificationBody('slack', message)).toMatchObject({ text: 'Verification of Chat' });
  expect(notificationBody('microsoft-teams', message)).not.toHaveProperty('potentialAction');
});
