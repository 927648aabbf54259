import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { Run } from '#run/run.ts';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** Test runs and environment variables of modules (HCP API: test runs). */

const api = await startApi();
const records = await import('#resources/runs/records.ts');
const { finishRun } = await import('#lifecycle/phases/finish.ts');
const table = await import('#platform/store/table.ts');
const { keys } = await import('#platform/store/keys.ts');

const modules = 'organizations/acme/registry-modules';

const newModule = async (tested = true) => {
  const name = uniqueName('tested');
  const { body } = await api.post(modules, { name, provider: 'aws', 'registry-name': 'private' });
  const path = `${modules}/private/acme/${name}/aws`;
  if (tested) await api.patch(path, { 'test-config': { 'tests-enabled': true } });
  return { id: body.data.id, path, tests: `organizations/acme/tests/registry-modules/private/acme/${name}/aws` };
};

type Module = Awaited<ReturnType<typeof newModule>>;

const uploaded = async ({ tests }: Module): Promise<string> => {
  const { body } = await api.post(`${tests}/test-runs/configuration-versions`);
  const archive = await packFiles({ 'main.tf': '' });
  await fetch(body.data.attributes['upload-url'], { method: 'PUT', body: archive as unknown as BodyInit });
  return body.data.id;
};

const start = async (module: Module, attributes: object = {}, version?: string) => {
  const id = version ?? (await uploaded(module));
  const relationships = { 'configuration-version': { data: { type: 'configuration-versions', id } } };
  return api.post(`${module.tests}/test-runs`, attributes, relationships);
};

const runIdOf = (testRunId: string): string => testRunId.replace('trun-', 'run-');

/** Ends the run as the machine and a runner would. */
const end = async (testRunId: string, report: Run['plan']['report']) => {
  const id = runIdOf(testRunId);
  await records.updateRun(id, { set: { 'plan.report': report, 'plan.status': 'running', status: 'planning' } });
  const failed = { Error: 'TerraformFailed', Cause: report?.message ?? '' };
  await finishRun(
    id,
    report?.outcome === 'finished' ? 'PlannedAndFinished' : 'PlanErrored',
    report?.outcome === 'errored' ? failed : undefined,
  );
};

const going = async (): Promise<number> =>
  (await table.query({ pk: keys.organization('acme').pk, prefix: 'TESTING#' })).length;

describe('a test run', () => {
  it('is queued, runs, and ends with the counts of its tests', async () => {
    const module = await newModule();
    const version = await uploaded(module);
    const attributes = { filters: ['tests/a.tftest.hcl'], verbose: true, variables: [{ key: 'size', value: '3' }] };
    const { status, body } = await start(module, attributes, version);
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      type: 'test-runs',
      attributes: {
        status: 'queued',
        'test-status': 'pending',
        'tests-passed': 0,
        'test-directory': 'tests',
        filters: attributes.filters,
        verbose: true,
        variables: attributes.variables,
        'test-configurable-type': 'RegistryModule',
        'test-configurable-id': module.id,
      },
      relationships: {
        'configuration-version': { data: { id: version } },
        'registry-module': { data: { id: module.id } },
      },
    });
    expect(body.data.id).toMatch(/^trun-/);
    const path = `${module.tests}/test-runs/${body.data.id}`;
    await records.updateRun(runIdOf(body.data.id), { set: { status: 'plan_queued' } });
    expect((await api.get(path)).body.data.attributes.status).toBe('running');
    expect(await going()).toBe(1);
    const tests = { status: 'fail', passed: 2, failed: 1, errored: 0, skipped: 3, left: ['aws_vpc.a'] } as const;
    await end(body.data.id, { outcome: 'finished', tests: { ...tests, left: [...tests.left] } });
    expect((await api.get(path)).body.data.attributes).toMatchObject({
      status: 'finished',
      'test-status': 'fail',
      'tests-passed': 2,
      'tests-failed': 1,
      'tests-skipped': 3,
      'remaining-resources': ['aws_vpc.a'],
    });
    expect(await going()).toBe(0);
  });

  it('that Terraform could not finish has the test status error', async () => {
    const module = await newModule();
    const { body } = await start(module);
    await end(body.data.id, { outcome: 'errored', message: 'no such module' });
    const { attributes } = (await api.get(`${module.tests}/test-runs/${body.data.id}`)).body.data;
    expect(attributes).toMatchObject({ status: 'errored', 'test-status': 'error', 'end-reason': 'no such module' });
  });

  it('can be canceled, twice like the command line does, and force-canceled only later', async () => {
    const module = await newModule();
    const { body } = await start(module);
    const path = `${module.tests}/test-runs/${body.data.id}`;
    await records.updateRun(runIdOf(body.data.id), { set: { status: 'planning' } });
    const statuses = [];
    for (const verb of ['force-cancel', 'cancel', 'cancel', 'force-cancel']) {
      statuses.push((await api.call('POST', `${path}/${verb}`)).status);
    }
    expect(statuses).toEqual([409, 202, 202, 409]);
    await table.update(keys.run(runIdOf(body.data.id)), { set: { 'cancel.forceAvailableAt': '2020-01-01T00:00:00Z' } });
    expect((await api.call('POST', `${path}/force-cancel`)).status).toBe(202);
    await finishRun(runIdOf(body.data.id), 'Canceled');
    const { attributes } = (await api.get(path)).body.data;
    expect(attributes).toMatchObject({ status: 'canceled', 'test-status': 'error' });
    expect(attributes['end-reason']).toMatch(/may remain/);
    expect((await api.call('POST', `${path}/cancel`)).status).toBe(409);
  });

  it('is listed newest first, by page, and only with its own module', async () => {
    const [module, other] = [await newModule(), await newModule()];
    const version = await uploaded(module);
    const ids = [];
    for (let i = 0; i < 3; i++) ids.unshift((await start(module, {}, version)).body.data.id);
    const { body } = await api.get(`${module.tests}/test-runs?page[size]=2`);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(body.meta.pagination['total-count']).toBe(3);
    expect((await api.get(`${module.tests}/test-runs?page[number]=999`)).body.data).toEqual([]);
    expect((await api.get(`${other.tests}/test-runs/${ids[0]}`)).status).toBe(404);
    expect((await start(other, {}, version)).body.errors[0].detail).toMatch(/not found in module/);
    for (const id of ids) await end(id, { outcome: 'canceled' });
  });

  it('is never visible as run, plan or event', async () => {
    const module = await newModule();
    const { body } = await start(module);
    const id = runIdOf(body.data.id);
    const paths = [
      `runs/${id}`,
      `plans/${id.replace('run-', 'plan-')}`,
      `runs/${id}/run-events`,
      `runs/${id}/comments`,
    ];
    for (const path of paths) expect([path, (await api.get(path)).status]).toEqual([path, 404]);
    expect((await api.call('POST', `runs/${id}/actions/cancel`)).status).toBe(404);
    expect((await api.get('organizations/acme/runs')).body.data).toEqual([]);
    await end(body.data.id, { outcome: 'canceled' });
  });

  it('is rejected beyond ten at once', async () => {
    const module = await newModule();
    const version = await uploaded(module);
    const ids = [];
    for (let i = 0; i < 10; i++) ids.push((await start(module, {}, version)).body.data.id);
    const refused = await start(module, {}, version);
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      409,
      expect.stringMatching(/10 test runs of acme/),
    ]);
    await end(ids[0], { outcome: 'canceled' });
    const next = await start(module, {}, version);
    expect(next.status).toBe(201);
    for (const id of [...ids.slice(1), next.body.data.id]) await end(id, { outcome: 'canceled' });
  });

  it.each([
    [{ filters: ['-json'] }, 'filters/0'],
    [{ filters: ['../../etc/passwd'] }, 'filters/0'],
    [{ 'test-directory': '/tmp' }, 'test-directory'],
    [{ parallelism: 0 }, 'parallelism'],
    [{ variables: [{ key: '1 x', value: '1' }] }, 'variables/0/key'],
    [{ 'terraform-version': '1.9.0' }, 'terraform-version'],
  ])('is rejected with the name of the field: %j', async (attributes, field) => {
    const { status, body } = await start(await newModule(), attributes, 'cv-any');
    expect([status, body.errors[0].source.pointer]).toEqual([422, `/data/attributes/${field}`]);
  });

  it('has a configuration version that is read by its id, and changed by none of the routes for workspaces', async () => {
    const id = await uploaded(await newModule());
    const { status, body } = await api.get(`configuration-versions/${id}`);
    expect([status, body.data.attributes.status]).toEqual([200, 'uploaded']);
    expect((await api.call('GET', `configuration-versions/${id}/download`)).status).toBe(302);
    expect((await api.call('POST', `configuration-versions/${id}/actions/archive`)).status).toBe(404);
  });

  it('needs tests to be enabled, a configuration, and its upload', async () => {
    const module = await newModule(false);
    const { body: early } = await api.post(`${module.tests}/test-runs/configuration-versions`);
    expect((await start(module, {}, early.data.id)).body.errors[0].detail).toMatch(/are not enabled/);
    await api.patch(module.path, { 'test-config': { 'tests-enabled': true } });
    expect((await api.post(`${module.tests}/test-runs`)).body.errors[0].detail).toBe(
      'configuration-version: is missing',
    );
    const { body } = await api.post(`${module.tests}/test-runs/configuration-versions`);
    expect((await start(module, {}, body.data.id)).body.errors[0].detail).toMatch(/is pending, not uploaded/);
    const agents = await api.patch(module.path, { 'test-config': { 'agent-execution-mode': 'agent' } });
    expect([agents.status, agents.body.errors[0].detail]).toEqual([
      422,
      expect.stringMatching(/runners of the platform/),
    ]);
  });

  it('requires permission to publish modules', async () => {
    const members = await memberHelpers();
    const module = await newModule();
    const { body } = await start(module);
    const path = `${module.tests}/test-runs/${body.data.id}`;
    const statusFor = async ({ token }: { token: string }, method: string, of: string) =>
      (await api.call(method, of, { token })).status;
    const reader = await members.withFlags('acme', 'read-projects');
    const publisher = await members.withFlags('acme', 'manage-modules');
    const outside = await members.member('acme');
    for (const [method, of] of [
      ['GET', path],
      ['GET', `configuration-versions/${body.data.relationships['configuration-version'].data.id}`],
      ['GET', `${module.tests}/vars`],
      ['POST', `${path}/cancel`],
    ] as const) {
      expect(await statusFor(reader, method, of)).toBe(403);
      expect(await statusFor(outside, method, of)).toBe(404);
      expect(await statusFor(publisher, method, of)).toBeLessThan(300);
    }
    await end(body.data.id, { outcome: 'canceled' });
  });
});

describe('a variable of the tests', () => {
  const value = { key: 'TOKEN', value: 'hidden', category: 'env', sensitive: true };

  it('is sealed for its module, and opened only for its test run', async () => {
    const module = await newModule();
    const { status, body } = await api.post(`${module.tests}/vars`, value);
    expect([status, body.data.attributes.value]).toEqual([201, null]);
    const stored = JSON.stringify(await table.get(keys.variable(module.id, body.data.id)));
    expect(stored).not.toContain('hidden');
    const { body: started } = await start(module);
    const run = (await records.getRun(runIdOf(started.data.id))) as Run;
    const { openInputs } = await import('#resources/runs/inputs.ts');
    expect(await openInputs(run)).toEqual([
      { key: 'TOKEN', value: 'hidden', category: 'env', hcl: false, sensitive: true },
    ]);
    await expect(openInputs({ ...run, workspaceId: 'mod-other' })).rejects.toThrow(/belongs to module/);
    await end(started.data.id, { outcome: 'canceled' });
  });

  it('is read, changed, listed by page and deleted', async () => {
    const module = await newModule(false);
    const { body } = await api.post(`${module.tests}/vars`, { ...value, sensitive: false });
    const path = `${module.tests}/vars/${body.data.id}`;
    expect((await api.patch(path, { value: 'other' })).body.data.attributes.value).toBe('other');
    const list = await api.get(`${module.tests}/vars?page[number]=999&page[size]=100`);
    expect([list.body.data, list.body.meta.pagination['total-count']]).toEqual([[], 1]);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.get(path)).status).toBe(404);
  });

  it.each([
    [{ key: 'a', value: '1', category: 'terraform' }, 'category'],
    [{ key: 'TFC_AWS_PROVIDER_AUTH', value: 'true', category: 'env' }, 'key'],
  ])('is rejected when it would have no effect: %j', async (attributes, field) => {
    const { status, body } = await api.post(`${(await newModule()).tests}/vars`, attributes);
    expect([status, body.errors[0].source.pointer]).toEqual([422, `/data/attributes/${field}`]);
  });
});

it('deleting a module interrupts its tests, and deletes their data', async () => {
  const module = await newModule();
  await api.post(`${module.tests}/vars`, { key: 'A', value: '1', category: 'env' });
  const { body } = await start(module);
  expect((await api.call('DELETE', module.path)).status).toBe(204);
  expect((await records.getRun(runIdOf(body.data.id)))?.cancel).toBeDefined();
  expect(await table.queryAll({ pk: keys.module(module.id).pk })).toEqual([]);
  expect(await table.queryAll({ pk: keys.workspace(module.id).pk })).toEqual([]);
});
