import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sha256Of } from '#platform/store/integrity.ts';
import { literal, mockBundle } from '#resources/runs/plan-exports/mocks.ts';
import { shortened } from '#run/phase-report.ts';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

const plan = {
  terraform_version: '1.11.4',
  variables: { size: { value: 3 } },
  resource_changes: [{ address: 'null_resource.a["x"]', change: { actions: ['create'] } }],
  configuration: {
    root_module: {
      resources: [
        { address: 'null_resource.a', type: 'null_resource', name: 'a', expressions: { t: { constant_value: 1 } } },
      ],
      module_calls: {
        net: { source: './net', module: { resources: [{ address: 'null_resource.b', type: 'null_resource' }] } },
      },
    },
  },
  prior_state: {
    terraform_version: '1.11.4',
    values: {
      root_module: {
        child_modules: [{ address: 'module.net', resources: [{ address: 'module.net.null_resource.b' }] }],
      },
    },
  },
};

/** A run whose stored plan is finished. */
const finished = async () => {
  const { keys, objects } = await import('#platform/store/keys.ts');
  const { putObject } = await import('#platform/store/bucket.ts');
  const { update } = await import('#platform/store/table.ts');
  const run = await help.create((await help.ready()).id);
  const json = Buffer.from(JSON.stringify(plan));
  await putObject(objects.artifact(run.id, 'plan', 'plan-json'), json);
  const report = { outcome: 'finished', artifacts: { 'plan-json': shortened(sha256Of(json)) } };
  await update(keys.run(run.id), { set: { 'plan.status': 'finished', 'plan.report': report } });
  return run.relationships.plan.data.id as string;
};
const create = (planId: string, type = 'sentinel-mock-bundle-v0') =>
  api.post('plan-exports', { 'data-type': type }, { plan: { data: { type: 'plans', id: planId } } });
const one = (id: string) => `plan-exports/${id}`;

/** File names and texts in a tar (POSIX.1-2024: ustar). */
const filesIn = (archive: Buffer): Record<string, string> => {
  const files: Record<string, string> = {};
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
    const name = archive
      .subarray(at, at + 100)
      .toString()
      .replaceAll('\0', '');
    const size = Number.parseInt(archive.subarray(at + 124, at + 135).toString(), 8);
    files[name] = archive.subarray(at + 512, at + 512 + size).toString();
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
};

it('a plan is exported as mock data that can be downloaded, until it is deleted', async () => {
  const planId = await finished();
  expect((await api.get(`plans/${planId}`)).body.data.attributes).toMatchObject({
    actions: { 'is-exportable': true },
    permissions: { 'can-export': true },
  });
  const made = await create(planId);
  expect([made.status, made.body.data]).toMatchObject([
    201,
    {
      id: expect.stringMatching(/^pe-/),
      attributes: { 'data-type': 'sentinel-mock-bundle-v0', status: 'finished' },
      relationships: { plan: { data: { type: 'plans', id: planId } } },
    },
  ]);
  const { id } = made.body.data;
  expect((await api.get(one(id))).body).toEqual(made.body);
  const again = await create(planId);
  expect([again.status, again.body.errors[0].detail]).toEqual([422, expect.stringContaining('delete it first')]);
  const link = await api.get(`${one(id)}/download`);
  expect(link.status).toBe(302);
  const files = filesIn(gunzipSync(Buffer.from(await (await fetch(link.headers.location ?? '')).arrayBuffer())));
  expect(Object.keys(files).sort()).toEqual([
    'mock-tfconfig-v2.sentinel',
    'mock-tfplan-v2.sentinel',
    'mock-tfrun.sentinel',
    'mock-tfstate-v2.sentinel',
    'sentinel.hcl',
  ]);
  expect(files['mock-tfplan-v2.sentinel']).toContain('"null_resource.a[\\"x\\"]": {');
  expect((await api.call('DELETE', one(id))).status).toBe(204);
  expect((await api.get(one(id))).status).toBe(404);
  expect((await create(planId)).status).toBe(201);
});

it('a plan that is not finished, unknown or deleted is not exported', async () => {
  const run = await help.create((await help.ready()).id);
  const pending = await create(run.relationships.plan.data.id);
  expect([pending.status, pending.body.errors[0].source.pointer]).toEqual([422, '/data/relationships/plan']);
  expect((await create('plan-unknown')).status).toBe(404);
  expect((await create(await finished(), 'other')).status).toBe(422);
});

it('an export expires after an hour', async () => {
  const { keys } = await import('#platform/store/keys.ts');
  const { update } = await import('#platform/store/table.ts');
  const planId = await finished();
  const { id } = (await create(planId)).body.data;
  const createdAt = new Date(Date.now() - 3_700_000).toISOString();
  await update(keys.planExport(id), { set: { createdAt } });
  await update(keys.planExportOf(planId.replace('plan-', 'run-')), { set: { createdAt } });
  expect((await api.get(one(id))).body.data).toMatchObject({
    attributes: { status: 'expired' },
    links: { download: null },
  });
  expect((await api.get(`${one(id)}/download`)).status).toBe(404);
  expect((await create(planId)).status).toBe(201);
});

it('an export requires permission to read mocks, which readers of runs lack', async () => {
  const { withLevel } = await memberHelpers();
  const planId = await finished();
  const { id } = (await create(planId)).body.data;
  const [reader, writer] = [await withLevel('acme', 'read'), await withLevel('acme', 'write')];
  const statusFor = async (token: string) =>
    (await api.call('GET', one(id), { headers: { authorization: `Bearer ${token}` } })).status;
  expect([await statusFor(reader.token), await statusFor(writer.token)]).toEqual([403, 200]);
});

describe('mock data', () => {
  it.each<[unknown, string]>([
    [null, 'null'],
    [1.5, '1.5'],
    [true, 'true'],
    ['a"b\\c\n', '"a\\"b\\\\c\\n"'],
    [[], '[]'],
    [{}, '{}'],
    [[1, { a: [] }], '[\n\t1,\n\t{\n\t\t"a": [],\n\t},\n]'],
  ])('%j is written as a literal', (value, text) => {
    expect(literal(value)).toBe(text);
  });

  it('has resources of modules by their full addresses', () => {
    const files = mockBundle(plan, { id: 'run-a', organization: 'acme' } as Run);
    expect(files['mock-tfconfig-v2.sentinel']).toContain('"module.net.null_resource.b": {');
    expect(files['mock-tfstate-v2.sentinel']).toContain('"module.net.null_resource.b": {');
    expect(files['sentinel.hcl']).toContain('source = "mock-tfplan-v2.sentinel"');
  });
});
