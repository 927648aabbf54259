import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { on, runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

describe('run actions', () => {
  const act = (id: string, action: string, sent = {}) => api.call('POST', `runs/${id}/actions/${action}`, sent);
  const confirmable = async () => {
    const run = await help.create((await help.ready()).id);
    await help.bring(run.id, {
      status: 'planned',
      wait: { state: 'NeedsConfirmation', token: 't' },
    });
    return run.id as string;
  };

  it('accept a repeated confirmation from the same user only', async () => {
    const id = await confirmable();
    const other = await help.user('write');
    const answers = await Promise.all([act(id, 'apply', { body: {} }), act(id, 'apply', { body: '' })]);
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [202, undefined],
      [202, undefined],
    ]);
    expect((await act(id, 'apply', { token: other.token })).status).toBe(409);
    expect((await api.get(`runs/${id}`)).body.data).toMatchObject({
      attributes: { status: 'confirmed' },
      relationships: { 'confirmed-by': { data: { id: api.userId } } },
    });
    expect(api.aws.sent.filter(({ action }) => action === 'SendTaskSuccess').length).toBeGreaterThan(0);
  });

  it('let one of concurrent confirm and discard win', async () => {
    const id = await confirmable();
    const answers = await Promise.all([act(id, 'apply'), act(id, 'discard')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
  });

  it("are rejected with a reason if the run's status does not allow them", async () => {
    const run = await help.create((await help.ready()).id);
    const early = await act(run.id, 'apply');
    expect(early.status).toBe(409);
    expect(early.body.errors[0]).toMatchObject({
      title: 'transition not allowed',
      detail: expect.stringContaining(`${run.id} is pending and cannot be confirmed`),
    });
    await act(run.id, 'discard', { body: { comment: 'no' } });
    expect((await act(run.id, 'apply')).status).toBe(409);
    await help.bring(run.id, { status: 'discarded' });
    for (const action of ['apply', 'discard', 'cancel', 'force-cancel']) {
      expect([action, (await act(run.id, action)).status]).toEqual([action, 409]);
    }
  });

  it('allow force-cancel only some time after cancel', async () => {
    const run = await help.create((await help.ready()).id);
    await help.bring(run.id, { status: 'planning', 'plan.status': 'running' });
    expect((await act(run.id, 'cancel', { body: {} })).status).toBe(202);
    const { attributes } = (await api.get(`runs/${run.id}`)).body.data;
    expect(attributes['canceled-at']).toMatch(/Z$/);
    expect(attributes['force-cancel-available-at'] > attributes['canceled-at']).toBe(true);
    expect(attributes.actions).toMatchObject({ 'is-cancelable': false, 'is-force-cancelable': false });
    expect((await act(run.id, 'force-cancel')).status).toBe(409);
    await help.bring(run.id, { 'cancel.forceAvailableAt': '2020-01-01T00:00:00.000Z' });
    expect((await api.get(`runs/${run.id}`)).body.data.attributes.actions['is-force-cancelable']).toBe(true);
    expect((await act(run.id, 'force-cancel')).status).toBe(202);
  });

  it.each([
    ['post_apply_running', 'Canceled the post-apply run tasks. The apply has finished, and its changes stay.'],
    ['applying', null],
  ] as const)('record in event and answer of a cancel while %s what it cancels: %s', async (status, description) => {
    const run = await help.create((await help.ready()).id);
    await help.bring(run.id, { status, 'apply.status': status === 'applying' ? 'running' : 'finished' });
    const answer = await act(run.id, 'cancel');
    expect([answer.status, answer.body?.meta.message ?? null]).toEqual([202, description]);
    const { data } = (await api.get(`runs/${run.id}/run-events`)).body;
    const event = data.find(({ attributes }: { attributes: { action: string } }) => attributes.action === 'canceled');
    expect(event.attributes.description).toBe(description);
  });

  it('force-cancel the phase that is under way', async () => {
    const forced = async (phase: 'plan' | 'apply') => {
      const run = await help.create((await help.ready()).id);
      const status = phase === 'plan' ? 'planning' : 'applying';
      await help.bring(run.id, { status, [`${phase}.status`]: 'running' });
      await act(run.id, 'cancel', { body: {} });
      await help.bring(run.id, { 'cancel.forceAvailableAt': '2020-01-01T00:00:00.000Z' });
      await act(run.id, 'force-cancel');
      const { plan, apply } = (await help.store.getRun(run.id)) ?? {};
      return [plan?.report?.outcome, apply?.report?.outcome];
    };
    expect(await forced('plan')).toEqual(['canceled', undefined]);
    expect(await forced('apply')).toEqual([undefined, 'canceled']);
  });

  it('are refused for more than 64 KB of variables, and not for less', async () => {
    const { id } = await help.ready();
    const withBytes = async (bytes: number) => {
      const variables = [{ key: 'a', value: JSON.stringify('x'.repeat(bytes - 3)) }];
      const { status, body } = await api.post('runs', { variables }, on(id));
      return [status, body.errors?.[0].source.pointer];
    };
    expect(await withBytes(64 * 1024)).toEqual([201, undefined]);
    expect(await withBytes(64 * 1024 + 1)).toEqual([422, expect.stringContaining('/data/attributes/variables')]);
  });

  it("let planners cancel their own plan-only runs, and the run's permissions show it", async () => {
    const planner = await help.user('plan');
    const { id } = await help.ready();
    const own = (await api.post('runs', { 'plan-only': true }, on(id), { token: planner.token })).body.data;
    const others = await help.create(id, { 'plan-only': true });
    const sent = { token: planner.token };
    for (const [run, may] of [
      [own, true],
      [others, false],
    ] as const) {
      const { permissions } = (await api.get(`runs/${run.id}`, sent)).body.data.attributes;
      expect(permissions['can-cancel']).toBe(may);
      expect((await act(run.id, 'cancel', sent)).status).toBe(may ? 202 : 403);
    }
  });

  it('are in the timeline with user and comment', async () => {
    const timeline = async (id: string) => {
      const { data, included } = (await api.get(`runs/${id}/run-events?include=actor,comment`)).body;
      const { action } = data.at(-1).attributes;
      return [
        action,
        ...included.map(
          ({ attributes }: { attributes: Record<string, string> }) => attributes.body ?? attributes.username,
        ),
      ];
    };
    const done = async (status: 'planned' | 'planning', action: string, set: object = {}) => {
      const run = await help.create((await help.ready()).id);
      await help.bring(run.id, { status, 'plan.status': 'running', ...set });
      expect((await act(run.id, action, { body: { comment: `to ${action}` } })).status).toBe(202);
      return timeline(run.id);
    };
    const cancel = { by: 'user-1', at: '', forceAvailableAt: '2020-01-01T00:00:00.000Z' };
    expect(await done('planned', 'apply')).toEqual(['confirmed', 'owner', 'to apply']);
    expect(await done('planned', 'discard')).toEqual(['discarded', 'owner', 'to discard']);
    expect(await done('planning', 'cancel')).toEqual(['canceled', 'owner', 'to cancel']);
    expect(await done('planning', 'force-cancel', { cancel })).toEqual(['force_canceled', 'owner', 'to force-cancel']);
  });

  it('of users are refused for builds of an environment', async () => {
    const id = await confirmable();
    await help.bring(id, { environment: 'env-1' });
    for (const action of ['apply', 'discard', 'cancel', 'force-execute']) {
      const { status, body } = await act(id, action);
      expect([action, status, body.errors[0].detail]).toEqual([action, 409, expect.stringContaining('an environment')]);
    }
  });

  it('discard a saved plan whose state has changed, instead of applying it', async () => {
    const { id: workspaceId } = await help.ready();
    const run = await help.create(workspaceId, { 'save-plan': true });
    await help.bring(run.id, { status: 'planned_and_saved', 'plan.basis': 'sv-1' });
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    await update(keys.workspace(workspaceId), {
      set: { state: { id: 'sv-2', serial: 2, lineage: 'l', md5: '', at: '', resources: 0 } },
    });
    const stale = await act(run.id, 'apply');
    expect([stale.status, stale.body.errors[0].detail]).toEqual([
      409,
      expect.stringContaining('has changed since the plan'),
    ]);
    expect((await help.store.getRun(run.id))?.decision).toMatchObject({ action: 'discard' });
    const good = await help.create(workspaceId, { 'save-plan': true });
    await help.bring(good.id, { status: 'planned_and_saved', 'plan.basis': 'sv-2' });
    expect((await act(good.id, 'apply')).status).toBe(202);
  });

  it('reject an invalid comment', async () => {
    const id = await confirmable();
    const answer = await act(id, 'apply', { body: { comment: 5 } });
    expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([422, '/comment']);
    expect((await api.get(`runs/${id}`)).body.data.attributes.status).toBe('planned');
  });
});

describe('force-execute', () => {
  const force = (id: string, sent = {}) => api.call('POST', `runs/${id}/actions/force-execute`, sent);
  const { startNext } = {
    startNext: async (id: string) => (await import('#lifecycle/queue/queue.ts')).startNext(id),
  };

  /** The first run holds the workspace and waits for a decision; two more wait behind it. */
  const queue = async () => {
    const { id } = await help.ready();
    const [front, second, third] = [await help.create(id), await help.create(id), await help.create(id)];
    await startNext(id);
    await help.bring(front.id, {
      status: 'planned',
      wait: { state: 'NeedsConfirmation', token: `${front.id}/confirm` },
    });
    return { id, front: front.id as string, second: second.id as string, third: third.id as string };
  };

  it('discards the run ahead and moves the run to the front', async () => {
    const { id, front, third } = await queue();
    expect((await force(third, { body: { comment: 'urgent' } })).status).toBe(202);
    expect(api.aws.sent.at(-1)).toMatchObject({
      action: 'SendTaskFailure',
      input: { taskToken: `${front}/confirm`, error: 'Discarded' },
    });
    // The client repeats a request whose response was lost.
    expect((await force(third)).status).toBe(202);
    const { finishRun } = await import('#lifecycle/phases/finish.ts');
    await finishRun(front, 'Discarded');
    expect((await api.get(`workspaces/${id}`)).body.data.relationships['locked-by'].data).toEqual({
      type: 'runs',
      id: third,
    });
    expect((await force(third)).status).toBe(202);
    const comments = await api.get(`runs/${third}/run-events?include=comment`);
    expect(comments.body.data.at(-1).attributes.action).toBe('force_executed');
    expect(comments.body.included[0].attributes.body).toBe('urgent');
  });

  it('is rejected unless the run is pending behind another', async () => {
    const { id, front, second } = await queue();
    const running = await force(front);
    expect([running.status, running.body.errors[0].detail]).toEqual([403, expect.stringContaining('is planned')]);
    const planOnly = await help.create(id, { 'plan-only': true });
    expect((await force(planOnly.id)).status).toBe(403);

    const alone = await help.create((await help.ready()).id);
    const free = await force(alone.id);
    expect([free.status, free.body.errors[0].detail]).toEqual([
      403,
      expect.stringContaining('does not wait for another run'),
    ]);
    await api.call('POST', `runs/${second}/actions/cancel`);
    expect((await force(second)).status).toBe(403);
  });

  it('is allowed only for undecided runs in the queue', async () => {
    const { forceExecuteRun } = await import('#lifecycle/queue/force-execute.ts');
    const { second } = await queue();
    const run = await help.store.getRun(second);
    const by = { by: 'user-1', at: '' };
    const changes = {
      'that is planned now': { status: 'planning' },
      'that was discarded': { decision: { action: 'discard', ...by } },
      'that was canceled': { cancel: { ...by, forceAvailableAt: '' } },
      'that only plans': { planOnly: true },
      'whose plan is saved': { savePlan: true },
    };
    for (const [which, change] of Object.entries(changes))
      expect(await forceExecuteRun({ ...run, ...change } as never, 'user-1'), which).toBe('not pending');
  });

  it('answers 409 and changes nothing while the run ahead is active', async () => {
    const { id, front, second, third } = await queue();
    await help.bring(front, { status: 'applying' });
    expect((await force(third)).status).toBe(409);
    const { finishRun } = await import('#lifecycle/phases/finish.ts');
    await finishRun(front, 'Applied');
    expect((await api.get(`workspaces/${id}`)).body.data.relationships['locked-by'].data.id).toBe(second);
  });
});
