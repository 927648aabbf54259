import { describe, expect, it } from 'vitest';
import { versionProblem } from '#run/engine.ts';
import { startApi, uniqueName } from '#test/support/api.ts';

const api = await startApi();

const tofu = { 'user-agent': 'OpenTofu/1.9.1 (+https://opentofu.org)', 'terraform-version': '1.9.1' };
const terraform = { 'user-agent': 'go-tfe', 'terraform-version': '1.11.4' };

type Headers = Record<string, string>;
const create = (attributes: object = {}, headers: Headers = {}, organization = 'acme') =>
  api.call('POST', `organizations/${organization}/workspaces`, {
    headers,
    body: { data: { attributes: { name: uniqueName('engine'), ...attributes } } },
  });
const change = (id: string, attributes: object, headers: Headers = {}) =>
  api.call('PATCH', `workspaces/${id}`, { headers, body: { data: { attributes } } });
const engineOf = ({ body }: Awaited<ReturnType<typeof create>>) => body.data.attributes.engine;
const refusal = ({ status, body }: Awaited<ReturnType<typeof create>>) => [status, body.errors?.[0]?.detail];

describe('the engine of a workspace', () => {
  it('defaults to OpenTofu if its command line creates the workspace, otherwise to that of the organization or platform', async () => {
    expect(engineOf(await create())).toBeNull();
    expect(engineOf(await create({}, terraform))).toBeNull();
    expect(engineOf(await create({}, tofu))).toBe('tofu');
    expect(engineOf(await create({ engine: 'terraform' }, tofu))).toBe('terraform');
    const name = uniqueName('tofus');
    await api.post('organizations', { name, email: 'a@b.test', 'default-engine': 'tofu' });
    expect(engineOf(await create({}, {}, name))).toBe('tofu');
    expect(engineOf(await create({ engine: 'terraform' }, {}, name))).toBe('terraform');
  });

  it('determines the allowed versions', async () => {
    const { id } = (await create({}, tofu)).body.data;
    expect((await change(id, { 'terraform-version': '1.9.1' }, tofu)).status).toBe(200);
    const foreign = await change(id, { 'terraform-version': '1.11.4' }, terraform);
    expect(refusal(foreign)).toEqual([
      422,
      'terraform-version: runs of this workspace use OpenTofu; its version cannot be set by Terraform',
    ]);
    const older = await change(id, { 'terraform-version': '1.5.7' });
    expect(refusal(older)).toEqual([422, 'terraform-version: OpenTofu has no version 1.5.7; its first is 1.6.0']);
    const before = (await create({ engine: 'terraform', 'terraform-version': '1.5.7' })).body.data;
    expect((await change(before.id, { engine: 'tofu' })).status).toBe(422);
    expect((await change(before.id, { engine: 'tofu', 'terraform-version': '~> 1.8.0' })).status).toBe(200);
    expect((await api.get(`workspaces/${id}`)).body.data.attributes['terraform-version']).toBe('1.9.1');
  });

  it('is fixed for a run when the run is created', async () => {
    const { id } = (await create({}, tofu)).body.data;
    await api.configuration(id);
    const runs = { workspace: { data: { type: 'workspaces', id } } };
    const { getRun } = await import('#resources/runs/records.ts');
    const run = (await api.post('runs', {}, runs)).body.data.id;
    await change(id, { engine: null });
    expect((await getRun(run))?.engine).toBe('tofu');
    const platforms = (await api.post('runs', {}, runs)).body.data.id;
    expect((await getRun(platforms))?.engine).toBeUndefined();
  });
});

it.each([
  ['tofu', '1.5.7', true],
  ['tofu', '0.15.5', true],
  ['tofu', '1.6', false],
  ['tofu', '2.0.1-beta1', false],
  ['tofu', '~> 1.5.0', false],
  ['tofu', 'latest', false],
  ['terraform', '0.12.31', false],
] as const)('%s has no version %s: %s', (engine, version, isProblem) => {
  expect(versionProblem(engine, version) !== undefined).toBe(isProblem);
});
