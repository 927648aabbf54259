import { afterEach, describe, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { type Answered, gzipHead, startApi, uniqueName } from '#test/support/api.ts';
import { on, runHelpers } from '#test/support/runs.ts';

/**
 * A machine whose operator admits only runs of one organization (RUNS_OF). `acme` is another organization, whose runs
 * are created in every possible way.
 */

const api = await startApi();
const help = await runHelpers(api);
const more = {
  ...(await import('#lifecycle/timers/auto-destroy.ts')),
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
  applyQueued: (await import('#lifecycle/states/apply-queued.ts')).handler,
  planQueued: (await import('#lifecycle/states/plan-queued.ts')).handler,
  runApplied: (await import('#lifecycle/phases/run-applied.ts')).handler,
};
afterEach(() => {
  delete process.env.RUNS_OF;
  delete process.env.WARM_RUNNERS;
});

const keptFor = (organization: string) => {
  process.env.RUNS_OF = organization;
};
const refusal = /starts runs of organization other only \(STEPFORM_RUNS_OF\), not of acme\. Use an agent pool/;
const started = () => api.aws.sent.filter(({ action }) => action === 'StartExecution').length;
const runsOf = async (id: string): Promise<{ id: string }[]> => (await api.get(`workspaces/${id}/runs`)).body.data;

/** @returns the workspace, in which no run was started */
const refused = async (request: (ready: { id: string; version: string }) => Promise<Answered>): Promise<string> => {
  const ready = await help.ready({ 'assessments-enabled': true, 'terraform-version': '1.14.0' });
  const before = started();
  keptFor('other');
  const { status, body } = await request(ready);
  expect([status, body.errors?.[0].detail]).toEqual([409, expect.stringMatching(refusal)]);
  expect([started(), await runsOf(ready.id)]).toEqual([before, []]);
  return ready.id;
};

describe("a run of an organization other than the operator's is rejected", () => {
  it.each([
    ['run', {}],
    ['plan-only run', { 'plan-only': true }],
    ['destroy run', { 'is-destroy': true }],
  ])('if it is a %s of the API, without using a number or a place', async (_, attributes) => {
    const id = await refused(({ id: workspaceId }) => api.post('runs', attributes, on(workspaceId)));
    delete process.env.RUNS_OF;
    expect((await help.create(id)).attributes.status).toBe('pending');
    expect((await help.store.getRun((await runsOf(id))[0]?.id ?? ''))?.number).toBe(1);
  });

  it('if a configuration version would queue it', async () => {
    await refused(({ id }) => api.post(`workspaces/${id}/configuration-versions`));
  });

  it('if it is a query run', async () => {
    await refused(({ id, version }) => api.post('queries', { source: 'tfe-api' }, on(id, version)));
  });

  it('if it is an assessment', async () => {
    await refused(async ({ id }) => {
      const state = { id: 'sv-1', serial: 1, lineage: 'l', md5: 'm', at: new Date().toISOString(), resources: 2 };
      await more.update(more.keys.workspace(id), { set: { state } });
      return api.post(`workspaces/${id}/actions/assess`);
    });
  });

  it('if it is a test run of a module', async () => {
    const name = uniqueName('tested');
    const modules = 'organizations/acme/registry-modules';
    await api.post(modules, { name, provider: 'aws', 'registry-name': 'private' });
    await api.patch(`${modules}/private/acme/${name}/aws`, { 'test-config': { 'tests-enabled': true } });
    const tests = `organizations/acme/tests/registry-modules/private/acme/${name}/aws/test-runs`;
    await refused(async () => {
      const version = (await api.post(`${tests}/configuration-versions`)).body.data;
      await fetch(version.attributes['upload-url'], { method: 'PUT', body: gzipHead as unknown as BodyInit });
      const data = { type: 'configuration-versions', id: version.id };
      return api.post(tests, {}, { 'configuration-version': { data } });
    });
  });
});

it('a configuration version that was created before the setting gets no run', async () => {
  const { id } = await api.workspace();
  const { body } = await api.post(`workspaces/${id}/configuration-versions`);
  const url = body.data.attributes['upload-url'];
  keptFor('other');
  await fetch(url, { method: 'PUT', body: gzipHead as unknown as BodyInit });
  expect((await api.get(`configuration-versions/${body.data.id}`)).body.data.attributes.status).toBe('uploaded');
  expect(await runsOf(id)).toEqual([]);
});

it('an apply with a run trigger records in its timeline that it triggered no run', async () => {
  const [source, target] = [await help.ready(), await help.ready()];
  await api.post(
    `workspaces/${target.id}/run-triggers`,
    {},
    { sourceable: { data: { type: 'workspaces', id: source.id } } },
  );
  const run = await help.create(source.id);
  await more.finishRun(run.id, 'Applied');
  keptFor('other');
  await more.runApplied({ detail: { name: run.id } } as Parameters<typeof more.runApplied>[0]);
  const events: { attributes: { description: string } }[] = (await api.get(`runs/${run.id}/run-events`)).body.data;
  expect(events.map(({ attributes }) => attributes.description)).toContainEqual(expect.stringMatching(refusal));
  expect(await runsOf(target.id)).toEqual([]);
});

it('a scheduled destroy fails', async () => {
  const { id } = await help.ready({ 'auto-destroy-at': new Date(Date.now() - 3_600_000).toISOString() });
  const state = { id: 'sv-1', serial: 1, lineage: 'l', md5: 'm', at: new Date().toISOString(), resources: 1 };
  await more.update(more.keys.workspace(id), { set: { state } });
  keptFor('other');
  await more.lookAtAutoDestroy(more.keys.autoDestroy(id));
  expect((await api.get(`workspaces/${id}`)).body.data.attributes['auto-destroy-status']).toBe('errored');
  expect(await runsOf(id)).toEqual([]);
});

describe('a run that is older than the setting', () => {
  const planned = { status: 'running', statusTimestamps: {}, report: { outcome: 'finished', hasChanges: true } };
  const phases = [
    ['plan', { status: 'pending', current: true }, () => more.planQueued],
    ['apply', { status: 'planning', current: true, plan: planned }, () => more.applyQueued],
  ] as const;
  it.each(phases)('gets no runner for its %s, and ends as errored', async (phase, set, handler) => {
    for (const warm of ['', JSON.stringify({ count: 1, pollMs: 100 })]) {
      const { id } = await help.ready();
      const run = await help.create(id, { 'auto-apply': true });
      await help.bring(run.id, set as Partial<Run>);
      keptFor('other');
      process.env.WARM_RUNNERS = warm;
      const containers = api.aws.containers.length;
      await handler()({ runId: run.id, token: `${run.id} token` });
      expect(api.aws.containers).toHaveLength(containers);
      const ended = (await help.store.getRun(run.id)) as Run;
      expect(ended[phase].report).toEqual({ outcome: 'errored', message: expect.stringMatching(refusal) });
      const answer = api.aws.sent.findLast(({ action }) => action === 'SendTaskFailure');
      expect(answer?.input).toMatchObject({ taskToken: `${run.id} token`, error: 'TerraformFailed' });
      delete process.env.RUNS_OF;
    }
  });
});

describe('a run starts', () => {
  it("if it is of the operator's organization, regardless of the case of its name", async () => {
    const { id } = await help.ready();
    for (const name of ['acme', 'ACME']) {
      keptFor(name);
      expect((await api.post('runs', {}, on(id))).status).toBe(201);
    }
  });

  it("if it runs on an organization's own agents", async () => {
    const pool = (await api.post('organizations/acme/agent-pools', { name: uniqueName('pool') })).body.data.id;
    const { id } = await help.ready({ 'execution-mode': 'agent', 'agent-pool-id': pool });
    keptFor('other');
    const run = await help.create(id);
    await more.planQueued({ runId: run.id, token: `${run.id} token` });
    expect((await help.store.getRun(run.id))?.plan).toMatchObject({ status: 'queued' });
  });
});
