import { describe, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { judgedRuns } from '#test/support/policy-runs.ts';
import { ids } from '#test/support/runs.ts';

const api = await startApi();
const help = await judgedRuns(api);

const hostile = 'deny contains "<script>alert(1)</script>\\u001b[2J\\nnext"';

/** A run with evaluated policies, in the `status` to which the machine would have advanced it. */
const judged = async (level: string, status: string, attributes: object = {}) => {
  const check = level === 'mandatory' || level === 'advisory' ? 'policyEvaluation' : 'policyCheck';
  const { workspaceId } = await help.guarded(hostile, level, attributes);
  const run = await help.planned(workspaceId);
  const { verdict } = await (check === 'policyCheck' ? help.checkPolicies(run) : help.evaluatePolicies(run));
  await help.verdict(run, check, status, verdict);
  return help.read(run.id);
};
const get = async (path: string) => (await api.get(path)).body.data;
const checkOf = async (run: Run) => get(`policy-checks/${run.id.replace('run-', 'polchk-')}`);
const evaluationOf = async (run: Run) => get(`policy-evaluations/${run.id.replace('run-', 'poleval-')}`);

describe('a policy check', () => {
  it('exists from the start, and stays pending until the run reaches it', async () => {
    const { workspaceId } = await help.guarded(hostile, 'soft-mandatory');
    const run = await help.planned(workspaceId);
    const [id] = await help.related(run.id, 'policy-checks');
    const status = async () => (await get(`policy-checks/${id}`)).attributes;
    expect(await status()).toMatchObject({ status: 'pending', result: null });
    await help.checkPolicies(run);
    await help.verdict(run, 'policyCheck', 'policy_checking', 'soft_failed');
    expect(await status()).toMatchObject({ status: 'queued', result: null, actions: { 'is-overridable': false } });
    expect((await api.get(`policy-checks/${id}/output`)).body).toBe('');
    await help.verdict(run, 'policyCheck', 'policy_override', 'soft_failed');
    expect(await status()).toMatchObject({
      status: 'soft_failed',
      scope: 'organization',
      result: { result: false, passed: 0, 'total-failed': 1, 'soft-failed': 1, 'hard-failed': 0 },
      actions: { 'is-overridable': true },
      permissions: { 'can-override': true },
      'status-timestamps': { 'queued-at': expect.any(String), 'soft-failed-at': expect.any(String) },
    });
    expect(ids((await api.get(`runs/${run.id}/policy-checks`)).body.data)).toEqual([id]);
  });

  it('prints the messages of its policies, on separate lines', async () => {
    const run = await judged('soft-mandatory', 'policy_override');
    const { id } = await checkOf(run);
    const { body, headers } = await api.get(`policy-checks/${id}/output`);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toContain('FAILED  sizes (soft-mandatory) – No large machines\n');
    expect(body).toContain('    - <script>alert(1)</script> [2J next\n');
    expect(body).toContain(
      'Policies: 0 passed, 0 advisory failed, 1 soft-mandatory failed, 0 hard-mandatory failed.\n',
    );
  });

  it('is overridden with permission and a reason, idempotently', async () => {
    const run = await judged('soft-mandatory', 'policy_override');
    const { id } = await checkOf(run);
    const path = `policy-checks/${id}/actions/override`;
    const { token } = await help.user('write');
    expect((await api.call('POST', path, { token, body: {} })).status).toBe(403);
    expect((await api.get(`policy-checks/${id}`, { token })).body.data.attributes.permissions).toEqual({
      'can-override': false,
    });
    for (const _ of [1, 2]) {
      const done = await api.call('POST', path, { body: { comment: 'for the fair' } });
      expect([done.status, done.body.data.attributes.status]).toEqual([200, 'overridden']);
      expect(done.body.data.attributes.override).toMatchObject({ by: api.userId, comment: 'for the fair' });
      expect(done.body.data.attributes['status-timestamps']['overridden-at']).toEqual(expect.any(String));
    }
    const events = (await api.get(`runs/${run.id}/run-events?include=comment`)).body;
    expect(events.data.map(({ attributes }: { attributes: { action: string } }) => attributes.action)).toContain(
      'policy_overridden',
    );
    expect(events.included[0].attributes.body).toBe('for the fair');
  });

  it.each([
    ['hard-mandatory', 'errored', 'hard_failed'],
    ['soft-mandatory', 'policy_soft_failed', 'soft_failed'],
    ['soft-mandatory', 'discarded', 'soft_failed'],
  ])('with level %s of a run that is %s has status %s and cannot be overridden', async (level, status, shown) => {
    const run = await judged(level, status);
    const { id, attributes } = await checkOf(run);
    expect(attributes).toMatchObject({ status: shown, actions: { 'is-overridable': false } });
    const refused = await api.call('POST', `policy-checks/${id}/actions/override`, { body: {} });
    expect([refused.status, refused.body.errors[0].title]).toEqual([409, 'transition not allowed']);
  });

  it.each([
    ['canceled', {}, 'unreachable'],
    ['canceled', { 'statusTimestamps.policy-checking-at': '2026-01-01T00:00:00.000Z' }, 'canceled'],
    ['errored', { 'statusTimestamps.policy-checking-at': '2026-01-01T00:00:00.000Z' }, 'errored'],
  ])('of a run that was %s before the policies were checked (%j) is %s', async (status, set, shown) => {
    const { workspaceId } = await help.guarded(hostile, 'soft-mandatory');
    const run = await help.planned(workspaceId);
    await help.bring(run.id, { status: status as Run['status'], ...set });
    expect((await checkOf(run)).attributes).toMatchObject({ status: shown, result: null });
  });
});

describe('a policy evaluation', () => {
  it('is part of the post-plan stage, and stays pending until the run reaches it', async () => {
    const { workspaceId } = await help.guarded(hostile, 'mandatory', { overridable: true });
    const run = await help.planned(workspaceId);
    const [stage] = await help.related(run.id, 'task-stages');
    const list = async () => (await get(`task-stages/${stage}/policy-evaluations`))[0];
    const none = { 'advisory-failed': 0, 'mandatory-failed': 0, passed: 0, errored: 0 };
    expect((await list()).attributes).toMatchObject({ status: 'pending', 'policy-kind': 'opa', 'result-count': none });
    await help.evaluatePolicies(run);
    await help.verdict(run, 'policyEvaluation', 'post_plan_running', 'overridable');
    const { id, attributes } = await list();
    expect(attributes).toMatchObject({ status: 'running', 'result-count': none });
    expect((await api.get(`policy-evaluations/${id}/policy-set-outcomes`)).body.data).toEqual([]);
    await help.verdict(run, 'policyEvaluation', 'post_plan_awaiting_decision', 'overridable');
    expect((await list()).attributes).toMatchObject({
      status: 'failed',
      'result-count': { ...none, 'mandatory-failed': 1 },
    });
    const included = (await api.get(`task-stages/${stage}?include=policy_evaluations`)).body;
    expect(ids(included.data.relationships['policy-evaluations'].data)).toEqual([id]);
    expect(included.included).toEqual([await list()]);
    expect(included.data.attributes).toMatchObject({
      status: 'awaiting_override',
      actions: { 'is-overridable': true },
    });
    const done = await api.call('POST', `task-stages/${stage}/actions/override`, { body: { comment: 'agreed' } });
    expect(done.status).toBe(200);
    expect((await list()).attributes).toMatchObject({ status: 'overridden', override: { comment: 'agreed' } });
  });

  it('lists the results of each set', async () => {
    const run = await judged('mandatory', 'errored');
    const { id } = await evaluationOf(run);
    const [outcome] = (await api.get(`policy-evaluations/${id}/policy-set-outcomes`)).body.data;
    expect(outcome).toMatchObject({
      id: expect.stringMatching(/^psout-\w+$/),
      type: 'policy-set-outcomes',
      attributes: {
        outcomes: [
          {
            policy_name: 'sizes',
            status: 'failed',
            enforcement_level: 'mandatory',
            query: 'data.terraform.sizes.deny',
            description: 'No large machines',
            output: ['<script>alert(1)</script>\u001b[2J\nnext'],
          },
        ],
        error: null,
        overridable: false,
        'policy-set-name': expect.stringMatching(/^set-/),
        'result-count': { 'mandatory-failed': 1, errored: 0 },
        result_count: { 'mandatory-failed': 1 },
      },
      relationships: { 'policy-evaluation': { data: { type: 'policy-evaluations', id } } },
    });
    expect(await get(`policy-set-outcomes/${outcome.id}`)).toEqual(outcome);
    expect(ids((await evaluationOf(run)).relationships['policy-set-outcomes'].data)).toEqual([outcome.id]);
    for (const [query, count] of [
      ['filter[0][status]=failed&filter[0][enforcement_level]=mandatory', 1],
      ['filter[0][enforcementLevel]=mandatory', 1],
      ['filter[0][status]=passed', 0],
      ['filter[0][status]=passed&filter[1][status]=failed', 1],
    ] as const) {
      const { data } = (await api.get(`policy-evaluations/${id}/policy-set-outcomes?${query}`)).body;
      expect([query, data.length]).toEqual([query, count]);
    }
  });

  it('that never started, because a run task failed, is unreachable', async () => {
    const { workspaceId } = await help.guarded(hostile, 'mandatory');
    const run = await help.planned(workspaceId);
    await help.bring(run.id, {
      status: 'errored',
      'statusTimestamps.post-plan-running-at': '2026-01-01T00:00:00.000Z',
      verdicts: { post_plan: 'failed' },
    });
    expect((await evaluationOf(run)).attributes.status).toBe('unreachable');
  });

  it('errors with the reason among the messages', async () => {
    const { workspaceId } = await help.guarded('deny := 5', 'mandatory');
    const run = await help.planned(workspaceId);
    await help.evaluatePolicies(run);
    await help.verdict(run, 'policyEvaluation', 'errored', 'failed');
    const { id, attributes } = await evaluationOf(run);
    expect(attributes['result-count']).toMatchObject({ errored: 1 });
    const [outcome] = (await api.get(`policy-evaluations/${id}/policy-set-outcomes`)).body.data;
    expect(outcome.attributes.outcomes[0]).toMatchObject({
      status: 'errored',
      output: [expect.stringContaining('returned a number')],
    });
  });
});
