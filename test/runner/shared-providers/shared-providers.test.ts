import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SharedProvider } from '#run/protocols/runner.ts';
import type { SharedPackage } from '#runner/shared-providers/records.ts';
import { type ProviderRegistry, startProviderRegistry } from '#test/support/provider-registry.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';
import { undoAfterFile } from '#test/support/undo.ts';

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
let registry: ProviderRegistry;
let token: string;
let packages: {
  fetch: (event: object) => Promise<void>;
  get: (type: string) => Promise<SharedPackage | undefined>;
  expire: (type: string) => Promise<unknown>;
};
const platform = 'linux_amd64';
const version = '1.2.3';
const addressOf = (type: string) => `${registry.host}/acme/${type}`;

beforeAll(async () => {
  runner = await startRunnerApi();
  registry = await startProviderRegistry();
  const before = getCACertificates();
  undoAfterFile(() => setDefaultCACertificates(before));
  setDefaultCACertificates([...before, readFileSync(registry.caFile, 'utf8')]);
  const { keys } = await import('#platform/store/keys.ts');
  const { get, update } = await import('#platform/store/table.ts');
  const keyOf = (type: string) => keys.sharedProvider(addressOf(type), version, platform);
  packages = {
    fetch: (await import('#runner/shared-providers/handler.ts')).handler as never,
    get: (type) => get<SharedPackage>(keyOf(type)),
    expire: (type) => update(keyOf(type), { set: { expiresAt: 1 } }),
  };
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8,::1/128';
  process.env.SHARED_PROVIDER_HOSTS = registry.host;
});
afterAll(async () => {
  for (const name of ['OUTBOUND_ALLOWED_CIDRS', 'SHARED_PROVIDER_HOSTS']) delete process.env[name];
  await registry.close();
  await runner.close();
});
beforeEach(async () => {
  token = (await runner.claim('plan')).token;
  runner.api.aws.invoked.length = 0;
});

const ask = async (...addresses: string[]): Promise<SharedProvider[]> => {
  const providers = addresses.map((address) => ({ address, version }));
  const { status, body } = await runner.call(token, 'providers', { platform, providers });
  expect(status).toBe(200);
  return body.providers;
};
const asked = () =>
  runner.api.aws.invoked.filter(({ name }) => name === 'FetchProviderFunction').map(({ event }) => event);
const fetchAsked = async () => {
  for (const event of asked().splice(0)) await packages.fetch(event);
};

describe('a provider of a public registry', () => {
  it('is fetched once for all runs', async () => {
    const { sha256 } = registry.add('once', version, Buffer.from('content'));
    expect(await ask(addressOf('once'))).toEqual([]);
    expect(await ask(addressOf('once'))).toEqual([]);
    expect(asked()).toEqual([{ address: addressOf('once'), version, platform }]);
    await fetchAsked();
    const [given] = await ask(addressOf('once'));
    expect(given).toMatchObject({ address: addressOf('once'), version, sha256 });
    expect(given?.url).toContain(`/providers/${sha256}.zip?`);
    expect(await (await fetch(given?.url ?? '')).text()).toBe('content');
    expect(asked()).toHaveLength(1);
  });

  it('is fetched again before it expires in the bucket', async () => {
    registry.add('old', version, Buffer.from('old'));
    await ask(addressOf('old'));
    await fetchAsked();
    await packages.expire('old');
    runner.api.aws.invoked.length = 0;
    expect(await ask(addressOf('old'))).toEqual([]);
    expect(asked()).toHaveLength(1);
  });

  it('is not requested again for hours when the registry does not have it', async () => {
    await ask(addressOf('missing'));
    await fetchAsked();
    expect(await packages.get('missing')).toMatchObject({ status: 'failed' });
    runner.api.aws.invoked.length = 0;
    expect(await ask(addressOf('missing'))).toEqual([]);
    expect(asked()).toEqual([]);
  });

  it('is not stored when it differs from the registry’s checksum', async () => {
    registry.add('lie', version, Buffer.from('announced'), Buffer.from('different'));
    await ask(addressOf('lie'));
    await fetchAsked();
    expect(await packages.get('lie')).toMatchObject({ status: 'failed' });
    expect(await ask(addressOf('lie'))).toEqual([]);
  });
});

describe('a hostile run', () => {
  it.each([
    'registry.example.com/acme/private',
    'localhost/acme/private',
    '169.254.169.254/latest/meta-data',
    'localhost:1/../private',
    'app.terraform.io/acme/private',
  ])('cannot have providers fetched from %s, which is not a public registry', async (address) => {
    expect(await ask(address)).toEqual([]);
    expect(asked()).toEqual([]);
    await expect(packages.fetch({ address, version, platform })).rejects.toThrow('is not shared');
  });

  it.each([
    { platform: '../../etc', providers: [] },
    { platform: 'linux_amd64/..', providers: [{ address: 'ADDRESS', version }] },
    { platform, providers: [{ address: 'ADDRESS', version: '1.2.3/../../x' }] },
    { platform, providers: [{ address: 'ADDRESS/../x', version }] },
  ])('cannot inject a path with %j', async (request) => {
    const text = JSON.stringify(request).replace('ADDRESS', addressOf('path'));
    const { status, body } = await runner.call(token, 'providers', JSON.parse(text));
    expect([status, body.providers]).toEqual([200, []]);
    expect(asked()).toEqual([]);
  });

  it('cannot request more than a runner needs, nor fill the bucket', async () => {
    const many = (n: number, of: string) =>
      Array.from({ length: n }, (_, i) => ({ address: addressOf(`${of}${i}`), version }));
    expect((await runner.call(token, 'providers', { platform, providers: many(51, 'a') })).status).toBe(422);
    for (const of of ['a', 'b', 'c']) {
      expect((await runner.call(token, 'providers', { platform, providers: many(50, of) })).status).toBe(200);
    }
    expect(asked().length).toBeGreaterThan(50);
    expect(asked().length).toBeLessThanOrEqual(100);
  });

  it('cannot store a provider, because its uploads are only for its own artifacts', async () => {
    for (const name of ['providers/x', '../../providers/x', 'provider']) {
      expect((await runner.call(token, 'uploads', { artifacts: [name] })).status).toBe(422);
    }
  });

  it('without a valid token gets nothing', async () => {
    expect((await runner.call('run-0000000000000000.plan.x', 'providers', { platform, providers: [] })).status).toBe(
      401,
    );
  });
});
