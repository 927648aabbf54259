import { beforeEach, describe, expect, it } from 'vitest';
import type { AutoDestroyTimer } from '#resources/workspaces/auto-destroy.ts';
import type { AutoDestroyEvent } from '#run/notifications/auto-destroy.ts';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

/** Ephemeral workspaces: how the sweep handles their timers. */

let look: typeof import('#lifecycle/timers/auto-destroy.ts')['lookAtAutoDestroy'];
const api = await startApi();
const help = await runHelpers(api);
const table = await import('#platform/store/table.ts');
const { keys } = await import('#platform/store/keys.ts');
({ lookAtAutoDestroy: look } = await import('#lifecycle/timers/auto-destroy.ts'));
const { finishRun } = await import('#lifecycle/phases/finish.ts');
beforeEach(() => {
  api.aws.invoked.length = 0;
});

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const timerOf = (id: string) => table.get<AutoDestroyTimer>(keys.autoDestroy(id));
const lookAt = (id: string) => look(keys.autoDestroy(id));
const shown = async (id: string) => (await api.get(`workspaces/${id}`)).body.data.attributes;
const runsOf = async (id: string): Promise<{ id: string; attributes: Record<string, unknown> }[]> =>
  (await api.get(`workspaces/${id}/runs`)).body.data;
const setState = (id: string, hours: number, resources = 1, stateId = 'sv-1') =>
  table.update(keys.workspace(id), {
    set: { state: { id: stateId, serial: 1, lineage: 'l', md5: 'm', at: ago(hours), resources } },
  });

/** A workspace with a configuration, and a resource created `hours` ago. */
const ephemeral = async (attributes: object, hours = 5): Promise<string> => {
  const { id } = await help.ready(attributes);
  await setState(id, hours);
  return id;
};
const end = async (id: string, ending: 'Applied' | 'PlanErrored') => finishRun(id, ending);
const current = async (id: string) => (await help.store.getRun((await timerOf(id))?.runId ?? '')) as Run;

describe('a workspace whose destroy time has passed', () => {
  it('gets one auto-applied destroy run, even if it is checked repeatedly', async () => {
    const id = await ephemeral({ 'auto-destroy-at': ago(1), 'auto-apply': false });
    const timer = await timerOf(id);
    await lookAt(id);
    // Interrupted before the timer recorded the run.
    await table.put({ ...keys.autoDestroy(id), ...(timer as object) });
    await lookAt(id);
    await lookAt(id);
    const runs = await runsOf(id);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.attributes).toMatchObject({
      'is-destroy': true,
      'auto-apply': true,
      source: 'tfe-infrastructure-lifecycle',
      message: expect.stringContaining('Automatically destroyed'),
    });
    expect(await shown(id)).toMatchObject({ 'auto-destroy-status': 'queued' });
  });

  it('clears its time once it was destroyed', async () => {
    const id = await ephemeral({ 'auto-destroy-at': ago(1) });
    await lookAt(id);
    await end((await current(id)).id, 'Applied');
    await lookAt(id);
    expect(await shown(id)).toMatchObject({ 'auto-destroy-at': null, 'auto-destroy-status': null });
    expect(await timerOf(id)).toBeUndefined();
  });

  it('restarts its duration with the next state', async () => {
    const id = await ephemeral({ 'auto-destroy-activity-duration': '2h' });
    await lookAt(id);
    await end((await current(id)).id, 'Applied');
    await setState(id, 0, 0, 'sv-2');
    await lookAt(id);
    expect(await shown(id)).toMatchObject({ 'auto-destroy-activity-duration': '2h' });
    expect(await runsOf(id)).toHaveLength(1);
    await setState(id, 3, 1, 'sv-3');
    await lookAt(id);
    expect(await runsOf(id)).toHaveLength(2);
  });

  it('is not destroyed after a change of its state', async () => {
    const id = await ephemeral({ 'auto-destroy-activity-duration': '2h' }, 1);
    await lookAt(id);
    expect(await runsOf(id)).toEqual([]);
    const due = (await timerOf(id))?.dueAt ?? '';
    expect(due).toBe((await shown(id))['auto-destroy-at']);
    expect(Date.parse(due)).toBeGreaterThan(Date.now() + 3_500_000);
  });

  it('is retried after a failure, but not after a user discarded the run', async () => {
    const [failing, discarded] = [
      await ephemeral({ 'auto-destroy-at': ago(1) }),
      await ephemeral({ 'auto-destroy-at': ago(1) }),
    ];
    for (const id of [failing, discarded]) {
      await lookAt(id);
      const run = await current(id);
      if (id === discarded) await help.bring(run.id, { decision: { action: 'discard', by: api.userId, at: ago(0) } });
      await finishRun(run.id, id === discarded ? 'Discarded' : 'PlanErrored');
      await lookAt(id);
      expect(await shown(id)).toMatchObject({ 'auto-destroy-status': 'errored' });
    }
    expect(await timerOf(discarded)).toBeUndefined();
    expect(await timerOf(failing)).toMatchObject({ failures: 1 });
    await lookAt(failing);
    expect(await runsOf(failing)).toHaveLength(2);
    expect(await timerOf(failing), 'counts on while the state is the same').toMatchObject({ failures: 1 });
    await setState(failing, 0, 1, 'sv-new');
    await end((await current(failing)).id, 'PlanErrored');
    await lookAt(failing);
    await lookAt(failing);
    expect(await runsOf(failing)).toHaveLength(2);
  });

  it.each([
    ['Execution mode is local', { executionMode: 'local' }],
    ['Configuration version is missing', undefined],
  ])('reports as obstacle: %s', async (obstacle, set) => {
    const { id } = await api.workspace({ 'auto-destroy-at': ago(1) });
    await setState(id, 5);
    if (set) await api.configuration(id);
    await table.update(keys.workspace(id), { set: { notifications: new Set(['nc-x']), ...set } });
    await lookAt(id);
    const [{ event } = { event: {} }] = api.aws.invoked;
    expect(event).toMatchObject({ notice: { kind: 'results', obstacle } });
    expect(await runsOf(id)).toEqual([]);
  });

  it.each<['Discarded' | 'Canceled' | 'PlanErrored', Record<string, string>, boolean]>([
    ['Canceled', {}, false],
    ['PlanErrored', { failure: 'a policy failed' }, false],
    ['PlanErrored', {}, true],
  ])('whose run ends as %s with %j is tried again: %s', async (ending, set, isTriedAgain) => {
    const id = await ephemeral({ 'auto-destroy-at': ago(1) });
    await lookAt(id);
    const run = await current(id);
    await help.bring(run.id, set);
    await lookAt(id);
    expect(await timerOf(id), 'while the run is in progress').toMatchObject({ runId: run.id });
    await finishRun(run.id, ending);
    await lookAt(id);
    expect((await timerOf(id)) !== undefined).toBe(isTriedAgain);
  });

  it('is done when nothing was left to destroy', async () => {
    const id = await ephemeral({ 'auto-destroy-at': ago(1) });
    await table.update(keys.workspace(id), { set: { notifications: new Set(['nc-x']) } });
    await lookAt(id);
    const { id: runId, message } = await current(id);
    expect(message).toMatch(/^Automatically destroyed: scheduled for 2/);
    await finishRun(runId, 'PlannedAndFinished');
    api.aws.invoked.length = 0;
    await lookAt(id);
    expect(await shown(id)).toMatchObject({ 'auto-destroy-at': null, 'auto-destroy-status': null });
    expect(api.aws.invoked[0]?.event).toMatchObject({ notice: { kind: 'results', run: { id: runId } } });
    const duration = await ephemeral({ 'auto-destroy-activity-duration': '2h' });
    await lookAt(duration);
    expect((await current(duration)).message).toBe('Automatically destroyed: no change for 2h');
  });

  it('notifies when no run can be created', async () => {
    const id = await ephemeral({ 'auto-destroy-at': ago(1), 'allow-destroy-plan': false });
    await table.update(keys.workspace(id), { set: { notifications: new Set(['nc-x']) } });
    await lookAt(id);
    expect(await runsOf(id)).toEqual([]);
    const { notice } =
      api.aws.invoked.map(({ event }) => event as AutoDestroyEvent).find((one) => one.workspaceId) ?? {};
    expect(notice).toMatchObject({ kind: 'results', obstacle: 'Destroy plans are not allowed for this workspace' });
    expect(await timerOf(id), 'it is tried again while the state is the same').toMatchObject({
      failures: 1,
      basis: 'sv-1',
    });
  });

  it('waits for a confirmation when the uploader of its configuration may not apply', async () => {
    const { id } = await api.workspace({ 'auto-destroy-at': ago(1) });
    await setState(id, 5);
    const planner = await help.user('plan');
    const version = await api.configuration(id);
    await table.update(keys.configurationVersion(version.id), { set: { createdBy: planner.id } });
    await lookAt(id);
    expect((await runsOf(id))[0]?.attributes).toMatchObject({ 'auto-apply': false });
  });
});

describe('a timer', () => {
  it('does not exist without the setting, and is removed with the setting or the workspace', async () => {
    const without = (await api.workspace()).id;
    await lookAt(without);
    expect(await timerOf(without)).toBeUndefined();
    const id = await ephemeral({ 'auto-destroy-at': ago(1) });
    await api.patch(`workspaces/${id}`, { 'auto-destroy-at': null });
    await lookAt(id);
    expect(await timerOf(id)).toBeUndefined();
    const gone = await ephemeral({ 'auto-destroy-at': ago(1) });
    await api.call('DELETE', `workspaces/${gone}`);
    await lookAt(gone);
    expect(await timerOf(gone)).toBeUndefined();
  });

  it('reminds once, 24 hours before', async () => {
    const id = await ephemeral({ 'auto-destroy-at': ago(-20) });
    await table.update(keys.workspace(id), { set: { notifications: new Set(['nc-x']) } });
    await table.update(keys.autoDestroy(id), { set: { lookedAt: ago(10) } });
    await lookAt(id);
    await lookAt(id);
    const notices = api.aws.invoked.flatMap(({ event }) => (event as AutoDestroyEvent).notice ?? []);
    expect(notices).toMatchObject([{ kind: 'reminder' }]);
  });
});
