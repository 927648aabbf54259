import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Answered, gzipHead, startApi, uniqueName } from '#test/support/api.ts';
import { on, runHelpers } from '#test/support/runs.ts';

/** A drained platform creates no run, in whichever way it begins. Each test also succeeds after the drain. */

const api = await startApi();
const help = await runHelpers(api);
const more = {
  ...(await import('#lifecycle/timers/auto-destroy.ts')),
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
  drain: (await import('#lifecycle/drain/handler.ts')).handler,
  runApplied: (await import('#lifecycle/phases/run-applied.ts')).handler,
};
afterEach(async () => {
  vi.useRealTimers();
  await resume();
});

const reason = 'upgrade, back at 18:00';
const refusal = /starts no new runs now: upgrade, back at 18:00\. Try again later, or ask its operator/;
const drain = () => more.drain({ action: 'start', reason });
const resume = () => more.drain({ action: 'resume' });
const started = () => api.aws.sent.filter(({ action }) => action === 'StartExecution').length;
const runsOf = async (id: string): Promise<{ id: string }[]> => (await api.get(`workspaces/${id}/runs`)).body.data;
const withState = (id: string) => {
  const state = { id: 'sv-1', serial: 1, lineage: 'l', md5: 'm', at: new Date().toISOString(), resources: 2 };
  return more.update(more.keys.workspace(id), { set: { state } });
};

/** @returns the response after the drain to the request that is refused during it */
const refused = async (request: (ready: { id: string; version: string }) => Promise<Answered>): Promise<Answered> => {
  const ready = await help.ready({ 'terraform-version': '1.14.0' });
  const before = started();
  await drain();
  const { status, body } = await request(ready);
  expect([status, body.errors?.[0].detail]).toEqual([409, expect.stringMatching(refusal)]);
  expect([started(), await runsOf(ready.id)]).toEqual([before, []]);
  await resume();
  const accepted = await request(ready);
  expect(accepted.status).toBeLessThan(300);
  return accepted;
};

describe('while the platform is drained, it refuses', () => {
  it.each([
    ['a run', {}],
    ['a plan-only run', { 'plan-only': true }],
    ['a destroy run', { 'is-destroy': true }],
  ])('%s of the API, without using a number or a place', async (_, attributes) => {
    const { body } = await refused(({ id }) => api.post('runs', attributes, on(id)));
    expect((await help.store.getRun(body.data.id))?.number).toBe(1);
  });

  it('a configuration version that would queue a run', async () => {
    await refused(({ id }) => api.post(`workspaces/${id}/configuration-versions`));
  });

  it('a query run', async () => {
    await refused(({ id, version }) => api.post('queries', { source: 'tfe-api' }, on(id, version)));
  });

  it('an assessment', async () => {
    const { id } = await help.ready({ 'assessments-enabled': true, 'terraform-version': '1.14.0' });
    const run = await help.create(id);
    await more.finishRun(run.id, 'Applied');
    await withState(id);
    const assess = () => api.post(`workspaces/${id}/actions/assess`);
    await drain();
    const { status, body } = await assess();
    expect([status, body.errors?.[0].detail]).toEqual([409, expect.stringMatching(refusal)]);
    await resume();
    expect((await assess()).status).toBe(200);
  });
});

it('a configuration that is uploaded during the drain gets no run', async () => {
  const { id } = await api.workspace();
  const { body } = await api.post(`workspaces/${id}/configuration-versions`);
  await drain();
  const upload = { method: 'PUT', body: gzipHead as unknown as BodyInit };
  await fetch(body.data.attributes['upload-url'], upload);
  const read = await api.get(`configuration-versions/${body.data.id}`);
  expect([read.status, read.body.data.attributes.status]).toEqual([200, 'uploaded']);
  expect(await runsOf(id)).toEqual([]);
});

it('an apply with a run trigger records in its timeline that it triggered no run', async () => {
  const [source, target] = [await help.ready(), await help.ready()];
  const related = { sourceable: { data: { type: 'workspaces', id: source.id } } };
  await api.post(`workspaces/${target.id}/run-triggers`, {}, related);
  const run = await help.create(source.id);
  await more.finishRun(run.id, 'Applied');
  await drain();
  await more.runApplied({ detail: { name: run.id } } as Parameters<typeof more.runApplied>[0]);
  const events: { attributes: { description: string } }[] = (await api.get(`runs/${run.id}/run-events`)).body.data;
  expect(events.map(({ attributes }) => attributes.description)).toContainEqual(expect.stringMatching(refusal));
  expect(await runsOf(target.id)).toEqual([]);
});

it('a scheduled destroy waits until the drain ends', async () => {
  const { id } = await help.ready({ 'auto-destroy-at': new Date(Date.now() - 3_600_000).toISOString() });
  await withState(id);
  await drain();
  await more.lookAtAutoDestroy(more.keys.autoDestroy(id));
  const workspace = async () => (await api.get(`workspaces/${id}`)).body.data.attributes;
  expect(await workspace()).not.toMatchObject({ 'auto-destroy-status': 'errored' });
  const timer = await more.get<{ dueAt: string; failures?: number }>(more.keys.autoDestroy(id));
  expect(timer?.failures).toBeUndefined();
  expect(Date.parse(timer?.dueAt ?? '')).toBeGreaterThan(Date.now() + 500_000);
  expect(await runsOf(id)).toEqual([]);
  await resume();
  await more.lookAtAutoDestroy(more.keys.autoDestroy(id));
  expect(await runsOf(id)).toHaveLength(1);
});

it('the drain is complete a minute after it began, when every run has ended', async () => {
  for (const run of (await more.drain({ action: 'status' })).runs) await more.finishRun(run.id, 'Canceled');
  const name = uniqueName('left');
  const { id } = await help.ready({ name });
  const run = await help.create(id);
  expect((await api.post(`runs/${run.id}/actions/none`)).status).toBe(404);
  const first = await drain();
  expect(first.drain?.reason).toBe(reason);
  expect(first.runs).toEqual([
    {
      id: run.id,
      organization: 'acme',
      workspace: name,
      status: 'pending',
      waitsFor: 'turn',
      createdAt: run.attributes['created-at'],
    },
  ]);
  // A second operator does not restart it.
  expect((await more.drain({ action: 'start', reason: 'another' })).drain).toEqual(first.drain);
  await more.finishRun(run.id, 'Canceled');
  expect(await more.drain({ action: 'status' })).toEqual({ drain: first.drain, runs: [], done: false });
  vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] });
  expect(await more.drain({ action: 'status' })).toEqual({ drain: first.drain, runs: [], done: true });
  expect(await resume()).toEqual({ runs: [], done: false });
});

it.each([{}, { action: 'stop' }, { action: 'start' }, { action: 'start', reason: ' ' }, undefined])(
  'the input %j is rejected with the accepted ones',
  async (input) => {
    await expect(more.drain(input)).rejects.toThrow('Send {"action": "start", "reason": "…"}');
  },
);
