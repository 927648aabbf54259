import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import type { OutboundAnswer, OutboundRequest } from '#platform/net/outbound/send.ts';
import { startApi, uniqueName } from '#test/support/api.ts';

/** No-code modules of the public registry, whose declarations the registry describes. */

const api = await startApi();

/** The public registry is out of reach in tests: requests to it are answered here, by path. */
let registry: Record<string, object | string>;
vi.mock('#platform/net/outbound/send.ts', async (original) => ({
  ...(await original<typeof import('#platform/net/outbound/send.ts')>()),
  send: async ({ url }: OutboundRequest): Promise<OutboundAnswer> => {
    const answer = registry[url.replace('https://registry.terraform.io/v1/modules/', '')];
    if (answer === 'down') throw new OutboundError('timeout', 'it did not answer in time');
    const body = Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
    return { status: answer ? 200 : 404, headers: {}, body };
  },
}));

const described = (version: string) => ({
  version,
  root: {
    inputs: [
      { name: 'cidr', type: 'string', description: `The \${range}`, default: '"10.0.0.0/16"', required: false },
      { name: 'size', type: 'number', description: null, default: '', required: true },
      { name: 'zone', default: '', required: false },
    ],
    outputs: [{ name: 'vpc_id', description: 'The network' }],
  },
});

const modules = 'organizations/acme/registry-modules';
const noCodes = 'organizations/acme/no-code-modules';

const newModule = async () => {
  const name = uniqueName('vpc');
  const place = { provider: 'aws', 'registry-name': 'public', namespace: 'terraform-aws-modules' };
  const { body } = await api.post(modules, { name, ...place });
  return { id: body.data.id as string, path: `terraform-aws-modules/${name}/aws` };
};
const of = (id: string) => ({ 'registry-module': { data: { type: 'registry-modules', id } } });
const make = (noCode: string, values: Record<string, string>) =>
  api.post(
    `no-code-modules/${noCode}/workspaces`,
    { name: uniqueName('made') },
    { vars: { data: Object.entries(values).map(([key, value]) => ({ type: 'vars', attributes: { key, value } })) } },
  );

beforeEach(() => {
  registry = {};
});

describe('a no-code module of the public registry', () => {
  it('creates workspaces with the latest version, or the pinned one', async () => {
    const { id, path } = await newModule();
    registry = { [path]: described('5.2.0'), [`${path}/5.1.0`]: described('5.1.0') };
    const { body } = await api.post(noCodes, {}, of(id));
    expect((await make(body.data.id, {})).body.errors[0].detail).toBe('vars: the module needs values for size');
    const made = await make(body.data.id, { size: '3' });
    expect([made.status, made.body.data.attributes['source-module-id']]).toEqual([201, `public/${path}/5.2.0`]);
    const [run] = (await api.get(`workspaces/${made.body.data.id}/runs`)).body.data;
    const { headers } = await api.get(`runs/${run.id}/configuration-version/download`);
    const archive = await fetch(headers.location ?? '');
    const text = gunzipSync(Buffer.from(await archive.arrayBuffer())).toString('utf8');
    expect(text).toContain(`  source  = "${path}"\n  version = "5.2.0"`);
    expect(text).toContain(
      'variable "cidr" {\n  type = string\n  description = "The $${range}"\n  default = "10.0.0.0/16"',
    );
    expect(text).toContain('variable "zone" {\n  type = any\n  default = null');
    // The registry does not say whether it is sensitive.
    expect(text).toMatch(/output "vpc_id" \{[^}]*sensitive = true/);
    await api.patch(`no-code-modules/${body.data.id}`, { 'version-pin': '5.1.0' });
    const pinned = await make(body.data.id, { size: '3' });
    expect(pinned.body.data.attributes['source-module-id']).toBe(`public/${path}/5.1.0`);
    const { data } = (await api.get(`no-code-modules/${body.data.id}/versions/5.1.0/module-variables`)).body;
    expect(data.map((one: { attributes: { name: string } }) => one.attributes.name)).toEqual(['cidr', 'size', 'zone']);
  });

  it('refuses unknown versions, and names a registry that does not answer', async () => {
    const { id, path } = await newModule();
    const { body } = await api.post(noCodes, {}, of(id));
    const pin = await api.patch(`no-code-modules/${body.data.id}`, { 'version-pin': '9.9.9' });
    expect([pin.status, pin.body.errors[0].source.pointer]).toEqual([422, '/data/attributes/version-pin']);
    expect((await make(body.data.id, {})).body.errors[0].detail).toContain('has no published version');
    registry = { [path]: 'down' };
    const down = await make(body.data.id, {});
    expect([down.status, down.body.errors[0].detail]).toEqual([422, expect.stringContaining('did not answer in time')]);
    registry = { [path]: '<html>' };
    expect((await make(body.data.id, {})).body.errors[0].detail).toContain('is not understood');
  });
});
