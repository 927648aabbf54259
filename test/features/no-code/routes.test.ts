import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** No-code modules, workspaces created from them, and their upgrades (HCP API: no-code provisioning). */

const api = await startApi();
const records = await import('#resources/runs/records.ts');
const { finishRun } = await import('#lifecycle/phases/finish.ts');

const modules = 'organizations/acme/registry-modules';
const noCodes = 'organizations/acme/no-code-modules';

const main = `
variable "size" {
  type        = string
  description = "Size, \${not} evaluated"
  default     = "small"
}
variable "count_of" {
  type = number
}
variable "password" {
  type      = string
  default   = ""
  sensitive = true
}
output "address" {
  description = "where it is"
  value       = "x"
}
output "key" {
  value     = "k"
  sensitive = true
}
`;

const publish = async (name: string, version: string, text = main): Promise<void> => {
  const { body } = await api.post(`registry-modules/acme/${name}/aws/versions`, { version });
  const archive = await packFiles({ 'main.tf': text });
  await fetch(body.data.links.upload, { method: 'PUT', body: archive as unknown as BodyInit });
};

const newModule = async (...versions: string[]) => {
  const name = uniqueName('ready');
  const { body } = await api.post(modules, { name, provider: 'aws', 'registry-name': 'private' });
  for (const version of versions) await publish(name, version);
  return { id: body.data.id as string, name, path: `${modules}/private/acme/${name}/aws` };
};

const of = (id: string, options: object[] = []) => ({
  'registry-module': { data: { type: 'registry-modules', id } },
  ...(options.length
    ? { 'variable-options': { data: options.map((attributes) => ({ type: 'variable-options', attributes })) } }
    : {}),
});
const sizes = { 'variable-name': 'size', 'variable-type': 'string', options: ['small', 'large'] };

const enable = async (module: { id: string }, attributes: object = {}, options = [sizes]) => {
  const answer = await api.post(noCodes, attributes, of(module.id, options));
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.data;
};

const vars = (values: Record<string, string>) => ({
  vars: {
    data: Object.entries(values).map(([name, value]) => {
      const [, category, key = name] = /^(?:(env) )?(.*)$/.exec(name) ?? [];
      return { type: 'vars', attributes: { key, value, ...(category ? { category } : {}) } };
    }),
  },
});

const make = (noCodeId: string, values: Record<string, string>, attributes: object = {}, sent = {}) =>
  api.post(`no-code-modules/${noCodeId}/workspaces`, { name: uniqueName('made'), ...attributes }, vars(values), sent);

const runsOf = async (workspaceId: string) => (await api.get(`workspaces/${workspaceId}/runs`)).body.data;

const configurationOf = async (runId: string): Promise<string> => {
  const { headers } = await api.get(`runs/${runId}/configuration-version/download`);
  const archive = await fetch(headers.location ?? '');
  return gunzipSync(Buffer.from(await archive.arrayBuffer())).toString('utf8');
};

const detailOf = ({ body }: { body: { errors: { detail: string }[] } }) => body.errors[0]?.detail;

describe('no-code of a module itself', () => {
  const create = (attributes: object) =>
    api.post(modules, { name: uniqueName('own'), provider: 'aws', 'registry-name': 'private', ...attributes });
  const noCodeOf = async (id: string) =>
    (await api.get(`registry-modules/${id}`)).body.data.relationships['no-code-modules'].data;

  it('is set when the module is created, and creates one no-code module', async () => {
    const { status, body } = await create({ 'no-code': true });
    expect(status).toBe(201);
    expect(body.data.attributes['no-code']).toBe(true);
    const [noCode, ...others] = await noCodeOf(body.data.id);
    expect(others).toEqual([]);
    const read = await api.get(`no-code-modules/${noCode.id}`);
    expect(read.body.data.attributes).toMatchObject({ enabled: true, 'version-pin': null });
    expect(read.body.data.relationships['registry-module'].data.id).toBe(body.data.id);
  });

  it('creates nothing when false', async () => {
    const { body } = await create({ 'no-code': false });
    expect(body.data.attributes['no-code']).toBe(false);
    expect(await noCodeOf(body.data.id)).toEqual([]);
  });

  it('is switched on, off and on again without a second no-code module', async () => {
    const { body } = await create({});
    const path = `${modules}/private/acme/${body.data.attributes.name}/aws`;
    const set = async (enabled: boolean) => (await api.patch(path, { 'no-code': enabled })).body.data.attributes;
    expect((await set(false))['no-code']).toBe(false);
    expect(await noCodeOf(body.data.id)).toEqual([]);
    expect((await set(true))['no-code']).toBe(true);
    const [first] = await noCodeOf(body.data.id);
    expect((await set(false))['no-code']).toBe(false);
    expect((await api.get(`no-code-modules/${first.id}`)).body.data.attributes.enabled).toBe(false);
    expect((await set(true))['no-code']).toBe(true);
    expect(await noCodeOf(body.data.id)).toEqual([first]);
  });

  it('is included with modules on request only', async () => {
    const { body } = await create({ 'no-code': true });
    const [noCode] = await noCodeOf(body.data.id);
    for (const path of [`registry-modules/${body.data.id}`, modules]) {
      expect((await api.get(path)).body.included).toBeUndefined();
      const { included } = (await api.get(`${path}?include=no-code-modules`)).body;
      expect(included).toContainEqual(expect.objectContaining({ id: noCode.id, type: 'no-code-modules' }));
    }
    expect((await api.get(`${modules}?include=versions`)).status).toBe(400);
  });
});

describe('a no-code module', () => {
  it('is created once for a module, read with its options, changed and deleted', async () => {
    const module = await newModule('1.0.0');
    const noCode = await enable(module);
    expect(noCode).toMatchObject({
      type: 'no-code-modules',
      attributes: { enabled: true, 'version-pin': null },
      relationships: { 'registry-module': { data: { id: module.id } }, organization: { data: { id: 'acme' } } },
    });
    expect((await api.get(module.path)).body.data).toMatchObject({
      attributes: { 'no-code': true },
      relationships: { 'no-code-modules': { data: [{ id: noCode.id }] } },
    });
    const again = await api.post(noCodes, {}, of(module.id));
    expect([again.status, detailOf(again)]).toEqual([422, expect.stringMatching(/already has a no-code module/)]);
    const path = `no-code-modules/${noCode.id}`;
    const { body } = await api.get(`${path}?include=variable-options`);
    expect(body.included).toMatchObject([{ type: 'variable-options', attributes: sizes }]);
    expect((await api.patch(path, { enabled: false })).body.data.attributes.enabled).toBe(false);
    expect((await api.get(module.path)).body.data.attributes['no-code']).toBe(false);
    expect((await api.patch(path, {}, of(module.id))).body.data.relationships['variable-options'].data).toHaveLength(1);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.get(path)).status).toBe(404);
    expect((await api.post(noCodes, {}, of(module.id))).status).toBe(201);
  });

  it('accepts a pending version, but no unknown one', async () => {
    const module = await newModule();
    await api.post(`${module.path}/versions`, { version: '1.2.3' });
    expect((await api.post(noCodes, { 'version-pin': '9.9.9' }, of(module.id))).status).toBe(422);
    const noCode = await enable(module, { 'version-pin': '1.2.3' });
    const refused = await make(noCode.id, {});
    expect([refused.status, detailOf(refused)]).toEqual([422, expect.stringMatching(/no published version 1\.2\.3/)]);
  });

  it.each([
    [{ ...sizes, 'variable-name': 'nosuch' }, 'variable-name'],
    [{ 'variable-name': 'count_of', 'variable-type': 'string', options: ['1'] }, 'variable-type'],
    [{ 'variable-name': 'count_of', 'variable-type': 'number', options: ['many'] }, 'options/0'],
  ])('rejects invalid options: %j', async (option, field) => {
    const module = await newModule('1.0.0');
    await api.get(module.path);
    const { status, body } = await api.post(noCodes, {}, of(module.id, [option]));
    expect([status, body.errors[0].source.pointer]).toEqual([
      422,
      `/data/relationships/variable-options/data/0/attributes/${field}`,
    ]);
  });

  it('returns the variables of a version', async () => {
    const module = await newModule('1.0.0');
    const noCode = await enable(module);
    const { body } = await api.get(`no-code-modules/${noCode.id}/versions/1.0.0/module-variables`);
    expect(body.data.map(({ attributes }: { attributes: object }) => attributes)).toMatchObject([
      {
        name: 'size',
        type: 'string',
        required: false,
        sensitive: false,
        options: ['small', 'large'],
        'has-global': false,
      },
      { name: 'count_of', type: 'number', required: true, options: [] },
      { name: 'password', sensitive: true },
    ]);
  });
});

it('values that a validation of the module lists are offered, others are not guessed', async () => {
  const module = await newModule();
  const validated = (name: string, condition: string) =>
    `variable "${name}" {\n  type = string\n  validation {\n    condition = ${condition}\n    error_message = "no"\n  }\n}\n`;
  const text = [
    validated('tier', 'contains([\n      "small",\n      "large",\n    ], var.tier)'),
    validated('zones', 'contains([1, 2.5], var.zones)'),
    validated('other', 'contains(["a"], var.tier)'),
    validated('computed', `contains(["a", "\${var.tier}"], var.computed)`),
    validated('free', 'length(var.free) > 3'),
  ];
  await publish(module.name, '1.0.0', text.join(''));
  const { body } = await api.post(noCodes, {}, of(module.id));
  const { body: found } = await api.get(`no-code-modules/${body.data.id}/versions/1.0.0/module-variables`);
  const options = found.data.map(({ attributes }: { attributes: { name: string; options: string[] } }) => [
    attributes.name,
    attributes.options,
  ]);
  expect(Object.fromEntries(options)).toEqual({
    tier: ['small', 'large'],
    zones: ['1', '2.5'],
    other: [],
    computed: [],
    free: [],
  });
});

describe('a workspace created from a module', () => {
  it('has its variables, generated configuration and first run', async () => {
    const module = await newModule('1.0.0', '1.1.0');
    const noCode = await enable(module, { 'version-pin': '1.0.0' });
    const values = { size: 'large', count_of: '2', password: 'secret' };
    const { status, body } = await make(noCode.id, values, { description: 'made', 'source-name': 'portal' });
    expect(status).toBe(201);
    expect(body.data.attributes).toMatchObject({
      source: 'tfe-module',
      'source-module-id': `private/acme/${module.name}/aws/1.0.0`,
      'source-name': 'portal',
      description: 'made',
      'no-code-upgrade-available': false,
    });
    const { body: list } = await api.get(`workspaces/${body.data.id}/vars`);
    const shown = list.data.map(({ attributes: { key, value } }: { attributes: Record<string, string> }) => [
      key,
      value,
    ]);
    expect(Object.fromEntries(shown)).toEqual({ size: 'large', count_of: '2', password: null });
    const [run] = await runsOf(body.data.id);
    expect(run.attributes).toMatchObject({ source: 'tfe-module', 'auto-apply': false });
    const text = await configurationOf(run.id);
    expect(text).toContain(`source  = "localterraform.com/acme/${module.name}/aws"\n  version = "1.0.0"`);
    expect(text).toContain('size = var.size');
    expect(text).toContain('description = "Size, $${not} evaluated"');
    expect(text).toMatch(/output "key" \{\n {2}value = module\.\S+\.key\n {2}sensitive = true/);
  });

  it.each([
    [{ size: 'huge', count_of: '1' }, {}, 422, /value: size must be one of small, large/],
    [{ nosuch: '1', count_of: '1' }, {}, 422, /has no variable nosuch/],
    [{ 'env TF_VAR_size': 'huge', count_of: '1' }, {}, 422, /value: TF_VAR_size must be one of small, large/],
    [{}, {}, 422, /the module needs values for count_of/],
    [{ count_of: '1' }, { 'working-directory': 'x' }, 422, /working-directory: cannot be set/],
    [{ count_of: '1' }, { 'execution-mode': 'local' }, 422, /execution-mode: must be remote or agent/],
    [{ count_of: '1' }, { name: 'a b' }, 422, /name/],
  ])('is rejected without a trace: %j %j', async (values, attributes, status, why) => {
    const noCode = await enable(await newModule('1.0.0'));
    const before = (await api.get('organizations/acme/workspaces')).body.meta.pagination['total-count'];
    const refused = await make(noCode.id, values as Record<string, string>, attributes);
    expect([refused.status, detailOf(refused)]).toEqual([status, expect.stringMatching(why)]);
    expect((await api.get('organizations/acme/workspaces')).body.meta.pagination['total-count']).toBe(before);
  });

  it('is rejected while provisioning is disabled', async () => {
    const noCode = await enable(await newModule('1.0.0'), { enabled: false });
    expect((await make(noCode.id, { count_of: '1' })).status).toBe(409);
  });

  it('requires permission to create workspaces, set variables and apply, in the project', async () => {
    const members = await memberHelpers();
    const noCode = await enable(await newModule('1.0.0'));
    const reader = await members.withFlags('acme', 'read-projects');
    const publisher = await members.withFlags('acme', 'manage-modules');
    const maker = await members.withFlags('acme', 'manage-workspaces');
    const outside = await members.member('acme');
    const as = async ({ token }: { token: string }) => (await make(noCode.id, { count_of: '1' }, {}, { token })).status;
    expect([await as(reader), await as(publisher), await as(outside)]).toEqual([403, 403, 404]);
    expect(await as(maker)).toBe(201);
    const { token } = reader;
    expect((await api.call('PATCH', `no-code-modules/${noCode.id}`, { token, body: { data: {} } })).status).toBe(403);
  });

  it('is upgraded by a run that waits for confirmation, keeps its variables, and has the new version once applied', async () => {
    const module = await newModule('1.0.0');
    const noCode = await enable(module);
    const { body } = await make(noCode.id, { count_of: '2', size: 'large' }, { 'auto-apply': true });
    const workspace = `workspaces/${body.data.id}`;
    const upgrade = `no-code-modules/${noCode.id}/${workspace}/upgrade`;
    const [first] = await runsOf(body.data.id);
    await finishRun(first.id, 'Applied');
    const same = await api.post(upgrade, {});
    expect(same.body.data.attributes).toMatchObject({ message: expect.stringMatching(/has version 1\.0\.0/) });
    await publish(module.name, '2.0.0', `${main}variable "more" {\n  default = 1\n}\n`);
    await api.get(module.path);
    expect((await api.get(workspace)).body.data.attributes['no-code-upgrade-available']).toBe(true);
    const all = (await api.get('organizations/acme/workspaces?page[size]=100')).body.data;
    const listed = all.find(({ id }: { id: string }) => id === body.data.id);
    expect(listed.attributes['no-code-upgrade-available']).toBe(true);
    expect((await api.post(upgrade, {}, vars({ size: 'huge' }))).status).toBe(422);

    const discarded = (await api.post(upgrade, {})).body.data;
    expect(discarded).toMatchObject({ type: 'workspace-upgrade', attributes: { status: 'pending' } });
    expect(discarded.attributes['plan-url']).toContain(discarded.id);
    await finishRun(discarded.id, 'Discarded');
    const { attributes } = (await api.get(workspace)).body.data;
    expect(attributes['source-module-id']).toMatch(/1\.0\.0$/);
    // The default configuration of runs is still the old one.
    const { body: plain } = await api.post(
      'runs',
      {},
      { workspace: { data: { type: 'workspaces', id: body.data.id } } },
    );
    expect(await configurationOf(plain.data.id)).toContain('version = "1.0.0"');
    await finishRun(plain.data.id, 'Discarded');

    const { data: run } = (await api.post(upgrade, {}, vars({ more: '5' }))).body;
    expect((await records.getRun(run.id))?.autoApply).toBe(false);
    expect(await configurationOf(run.id)).toContain('version = "2.0.0"');
    expect((await api.get(`${upgrade}/${run.id}`)).body.data.attributes.status).toBe('pending');
    expect((await api.get(`${upgrade}/${first.id}`)).status).toBe(404);
    expect((await api.call('POST', `${upgrade}/${run.id}`)).status).toBe(409);
    await records.updateRun(run.id, { set: { status: 'planned', current: true } });
    expect((await api.call('POST', `${upgrade}/${run.id}`)).status).toBe(202);
    await finishRun(run.id, 'Applied');
    const upgraded = (await api.get(workspace)).body.data.attributes;
    expect(upgraded).toMatchObject({
      'source-module-id': `private/acme/${module.name}/aws/2.0.0`,
      'no-code-upgrade-available': false,
    });
    const { body: list } = await api.get(`${workspace}/vars`);
    const keys = list.data.map(
      ({ attributes: { key, value } }: { attributes: Record<string, string> }) => `${key}=${value}`,
    );
    expect(keys.sort()).toEqual(['count_of=2', 'more=5', 'size=large']);
  });
});
