import { beforeEach, describe, expect, it } from 'vitest';
import type { HealthTimer } from '#resources/workspaces/health-timer.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { HealthEvent } from '#run/notifications/health.ts';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

/** Health assessments: when they begin, how they end, and that they do not affect runs. */

let look: typeof import('#lifecycle/timers/assessment-timer.ts')['lookAtHealth'];
const api = await startApi();
const help = await runHelpers(api);
const table = await import('#platform/store/table.ts');
const { keys } = await import('#platform/store/keys.ts');
({ lookAtHealth: look } = await import('#lifecycle/timers/assessment-timer.ts'));
const { finishRun, release } = await import('#lifecycle/phases/finish.ts');
beforeEach(() => {
  api.aws.invoked.length = 0;
});

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
const timerOf = (id: string) => table.get<HealthTimer>(keys.healthTimer(id));
const lookAt = (id: string) => look(keys.healthTimer(id));
const read = async (id: string) => (await table.get<Workspace>(keys.workspace(id))) as Workspace;
const assess = (id: string) => api.post(`workspaces/${id}/actions/assess`, {});
const setState = (id: string, stateId: string, hours = 30) =>
  table.update(keys.workspace(id), {
    set: { state: { id: stateId, serial: 1, lineage: 'l', md5: 'm', at: ago(hours), resources: 2 } },
  });

/** A workspace with resources that a run has applied. */
const applied = async (attributes: object = { 'assessments-enabled': true }): Promise<string> => {
  const { id } = await help.ready(attributes);
  const run = await help.create(id);
  await setState(id, 'sv-1');
  await help.bring(run.id, { current: true });
  await table.update(keys.workspace(id), { set: { lock: { kind: 'run', runId: run.id, at: ago(30) } } });
  await finishRun(run.id, 'Applied');
  return id;
};

const going = async (id: string): Promise<Run> =>
  (await help.store.getRun((await read(id)).assessing?.runId ?? '')) as Run;

const found = { resourcesDrifted: 1, resourcesUndrifted: 1, checksPassed: 1, checksFailed: 0 };

/** Ends an assessment as the machine and a runner do. */
const end = async (id: string, health: object = found): Promise<Run> => {
  const { id: runId } = await going(id);
  const report = { outcome: 'finished', health, artifacts: { 'plan-json': 'sha' } } as Run['plan']['report'];
  await help.bring(runId, { status: 'planning', 'plan.status': 'running', 'plan.report': report });
  return (await finishRun(runId, 'PlannedAndFinished')) as Run;
};

describe('an assessment', () => {
  it('is not visible as a run: no number, no place in lists, no lock', async () => {
    const id = await applied();
    expect((await assess(id)).status).toBe(200);
    const run = await going(id);
    expect(run).toMatchObject({
      ...{ number: 0, planOnly: true, autoApply: false, structuredOutput: true, assessment: { stateId: 'sv-1' } },
    });
    expect((await api.get(`workspaces/${id}/runs`)).body.data).toHaveLength(1);
    expect((await api.get('organizations/acme/runs')).body.data.map((one: Run) => one.id)).not.toContain(run.id);
    for (const path of [`runs/${run.id}`, `plans/${run.id.replace('run-', 'plan-')}`, `runs/${run.id}/run-events`]) {
      expect([path, (await api.get(path)).status]).toEqual([path, 404]);
    }
    expect((await read(id)).lock).toBeUndefined();
    const before = (await read(id)).runCount;
    await end(id);
    expect((await read(id)).runCount).toBe(before);
  });

  it('has one result, even if its end is repeated', async () => {
    const id = await applied();
    await table.update(keys.workspace(id), { set: { notifications: new Set(['nc-x']) } });
    await assess(id);
    const run = await end(id);
    await release(run);
    const result = (await api.get(`workspaces/${id}/current-assessment-result`)).body.data;
    expect(result).toMatchObject({
      id: run.id.replace('run-', 'asmtres-'),
      attributes: {
        succeeded: true,
        drifted: true,
        'resources-drifted': 1,
        'resources-undrifted': 1,
        'all-checks-succeeded': true,
        'checks-errored': null,
        'error-message': null,
      },
      relationships: { workspace: { data: { id } } },
    });
    expect((await api.get(`assessment-results/${result.id}`)).body.data).toEqual(result);
    expect((await api.get(`workspaces/${id}/assessment-results`)).body.data).toEqual([result]);
    const shown = (await api.get(`workspaces/${id}?include=current_assessment_result`)).body;
    expect(shown.included).toEqual([result]);
    expect(shown.data.attributes['last-assessment-result-at']).toBe(result.attributes['created-at']);
    const events = api.aws.invoked.filter(({ event }) => (event as HealthEvent).result);
    expect(events).toHaveLength(1);
    expect((await read(id)).assessing).toBeUndefined();
    expect(await table.query({ pk: keys.organization('acme').pk, prefix: 'ASSESSING#' })).toEqual([]);
  });

  it('that failed reports the reason', async () => {
    const id = await applied();
    await assess(id);
    await finishRun((await going(id)).id, 'PlanErrored', { Error: 'TerraformFailed', Cause: 'No credentials' });
    expect((await api.get(`workspaces/${id}/current-assessment-result`)).body.data.attributes).toMatchObject({
      succeeded: false,
      drifted: null,
      'resources-drifted': null,
      'error-message': 'No credentials',
    });
  });

  it('sends no notification without a finding, or without a configuration', async () => {
    const id = await applied();
    await assess(id);
    await end(id);
    await table.update(keys.workspace(id), { set: { notifications: new Set(['nc-x']) } });
    await assess(id);
    await end(id, { ...found, resourcesDrifted: 0 });
    expect(api.aws.invoked.filter(({ event }) => (event as HealthEvent).result)).toEqual([]);
    expect((await read(id)).health).toMatchObject({ resourcesDrifted: 0 });
  });

  it('of a state that is no longer current has no result', async () => {
    const id = await applied();
    await assess(id);
    await setState(id, 'sv-2');
    const run = await end(id);
    expect((await api.get(`workspaces/${id}/current-assessment-result`)).status).toBe(404);
    expect((await api.get(`assessment-results/${run.id.replace('run-', 'asmtres-')}`)).status).toBe(404);
    expect((await read(id)).assessing).toBeUndefined();
  });

  it('is canceled by a new run, which does not wait for it, but not by a plan-only run', async () => {
    const id = await applied();
    await assess(id);
    const startedAt = async () => (await api.get(`workspaces/${id}`)).body.data.attributes['assessment-started-at'];
    expect(Date.parse(await startedAt())).toBeGreaterThan(Date.now() - 60_000);
    const { id: assessment } = await going(id);
    await help.bring(assessment, { status: 'plan_queued', wait: { state: 'PlanQueued', token: 'of the assessment' } });
    await help.create(id, { 'plan-only': true });
    expect((await help.store.getRun(assessment))?.cancel).toBeUndefined();
    const run = await help.create(id);
    expect(run.attributes.status).toBe('pending');
    expect((await help.store.getRun(assessment))?.cancel).toMatchObject({ by: 'health-assessment' });
    expect(api.aws.sent).toContainEqual({
      action: 'SendTaskFailure',
      input: expect.objectContaining({ taskToken: 'of the assessment', error: 'Canceled' }),
    });
    await finishRun(assessment, 'Canceled');
    expect(await startedAt()).toBeNull();
    expect((await api.get(`workspaces/${id}/current-assessment-result`)).status).toBe(404);
    expect((await assess(id)).body.errors[0].detail).toMatch(/a run is in progress/);
  });

  it.each<[string, (id: string) => Promise<unknown>, RegExp]>([
    ['that is not enabled', (id) => api.patch(`workspaces/${id}`, { 'assessments-enabled': false }), /assessments-ena/],
    ['in progress', (id) => assess(id), /an assessment is in progress/],
    ['of local execution', (id) => api.patch(`workspaces/${id}`, { 'execution-mode': 'local' }), /mode is local/],
    ['by an old Terraform', (id) => api.patch(`workspaces/${id}`, { 'terraform-version': '0.14.11' }), /0\.15\.4/],
  ])('%s is refused with 409', async (_, make, reason) => {
    const id = await applied();
    await make(id);
    const { status, body } = await assess(id);
    expect([status, body.errors[0].detail]).toEqual([409, expect.stringMatching(reason)]);
  });

  it('requires workspace admin, and its JSON access to states', async () => {
    const id = await applied();
    const [reader, planner] = [await help.user('read'), await help.user('plan')];
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    expect((await api.call('POST', `workspaces/${id}/actions/assess`, as(planner.token))).status).toBe(403);
    await assess(id);
    const run = await end(id);
    const path = `assessment-results/${run.id.replace('run-', 'asmtres-')}`;
    expect((await api.call('GET', path, as(reader.token))).status).toBe(200);
    expect((await api.call('GET', `${path}/json-output`, as(reader.token))).status).toBe(403);
    expect((await api.call('GET', `${path}/log-output`, as(reader.token))).status).toBe(403);
    expect((await api.get(`${path}/json-output`)).status).toBe(307);
  });
});

describe('a workspace', () => {
  const refused = async (change: Partial<Workspace>) => {
    const workspace = await read(await applied());
    const { assess: assessNow } = await import('#lifecycle/timers/assessments.ts');
    return assessNow({ ...workspace, ...change });
  };

  it.each<[Partial<Workspace>, RegExp, boolean]>([
    [{ executionMode: 'local' }, /^its execution mode is local$/, false],
    [{ managedBy: 'environment e' }, /^it belongs to environment e$/, false],
    [{ terraformVersion: '0.15.3' }, /^drift detection needs Terraform 0.15.4/, false],
    [{ terraformVersion: '0.14.9' }, /^drift detection needs Terraform 0.15.4/, false],
    [{ state: undefined }, /^it has no resources$/, true],
    [{ lock: { kind: 'run', runId: 'run-1', at: '' } }, /^a run is in progress$/, true],
    [{ latestRunId: undefined }, /^no run has been applied yet$/, true],
    [{ latestRunId: 'run-none' }, /^no run has been applied yet$/, true],
  ])('with %j is not assessed: %s; this passes: %s', async (change, reason, passes) => {
    expect(await refused(change)).toEqual({ reason: expect.stringMatching(reason), passes });
  });

  it.each<Partial<Workspace>>([
    { terraformVersion: '0.15.4' },
    { terraformVersion: '1.0.0' },
    { terraformVersion: 'latest' },
    { terraformVersion: '0.13.0', engine: 'tofu' },
    { lock: { kind: 'user', userId: 'u', reason: '', at: '' } },
  ])('with %j is assessed', async (change) => {
    expect(await refused(change)).toBeUndefined();
  });

  it('whose latest run failed is assessed after the next apply', async () => {
    const id = await applied();
    const run = await help.create(id);
    await finishRun(run.id, 'PlanErrored');
    expect((await assess(id)).body.errors[0].detail).toContain(
      `its latest run ${run.id} is errored: apply a run first`,
    );
    const unchanged = await help.create(id);
    await finishRun(unchanged.id, 'PlannedAndFinished');
    expect((await assess(id)).status).toBe(200);
  });
});

describe('the timer of a workspace', () => {
  it('starts an assessment once a day', async () => {
    const id = await applied();
    await lookAt(id);
    await end(id);
    await table.update(keys.healthTimer(id), { set: { dueAt: ago(0) } });
    await lookAt(id);
    expect((await read(id)).assessing).toBeUndefined();
    const { health } = await read(id);
    expect((await timerOf(id))?.dueAt).toBe(new Date(Date.parse(health?.at ?? '') + 24 * 3_600_000).toISOString());
    await table.update(keys.workspace(id), { set: { health: { ...health, at: ago(25) } } });
    await lookAt(id);
    expect((await read(id)).assessing).toBeDefined();
  });

  it('retries while a run is in progress, and is removed with the setting', async () => {
    const id = await applied();
    await help.create(id);
    await lookAt(id);
    expect((await read(id)).assessing).toBeUndefined();
    const due = Date.parse((await timerOf(id))?.dueAt ?? '');
    expect(due).toBeGreaterThan(Date.now());
    expect(due).toBeLessThan(Date.now() + 2 * 3_600_000);
    await api.patch(`workspaces/${id}`, { 'assessments-enabled': false });
    await lookAt(id);
    expect(await timerOf(id)).toBeUndefined();
  });

  it('waits while the organization runs the maximum of assessments', async () => {
    const id = await applied();
    const rows = Array.from({ length: 10 }, (_, i) => keys.assessing('acme', `run-full${i}`));
    for (const row of rows) await table.put({ ...row, runId: 'x' });
    await lookAt(id);
    expect((await read(id)).assessing).toBeUndefined();
    for (const row of rows) await table.remove(row);
    await lookAt(id);
    expect((await read(id)).assessing).toBeDefined();
  });

  it('repeats an assessment whose creation was interrupted', async () => {
    const id = await applied();
    await table.update(keys.workspace(id), { set: { assessing: { runId: 'run-never', at: ago(1) } } });
    expect((await assess(id)).status).toBe(200);
    expect((await going(id)).assessment).toBeDefined();
    const other = await applied();
    const claim = async (runId: string, minutes: number) => {
      await table.update(keys.workspace(other), { set: { assessing: { runId, at: ago(minutes / 60) } } });
      return (await assess(other)).status;
    };
    expect(await claim('run-soon', 0)).toBe(409);
    expect(await claim('run-soon', 4.9)).toBe(409);
    expect(await claim('run-soon', 5.1)).toBe(200);
    const over = await end(other);
    expect(await claim(over.id, 0), 'the end of the last one was interrupted').toBe(200);
  });

  it('exists for every workspace of an organization that enforces assessments, and for no other', async () => {
    const id = await applied({});
    await lookAt(id);
    expect(await timerOf(id)).toBeUndefined();
    await api.patch('organizations/acme', { 'assessments-enforced': true });
    const fresh = (await api.workspace()).id;
    expect([await timerOf(id), await timerOf(fresh)]).not.toContain(undefined);
    expect((await assess(id)).status).toBe(200);
    expect((await api.get(`workspaces/${id}`)).body.data.attributes['assessments-enabled']).toBe(false);
    await api.patch('organizations/acme', { 'assessments-enforced': false });
    await lookAt(fresh);
    expect(await timerOf(fresh)).toBeUndefined();
  });
});
