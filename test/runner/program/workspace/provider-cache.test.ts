import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { platform } from '#runner/program/binary/platform.ts';
import { isPinned, lockedProviders, ProviderCache, packageChecksum } from '#runner/program/workspace/provider-cache.ts';
import { archive, Bench, jobFor } from '../support.ts';
import { zip } from '../zip.ts';

const address = 'registry.example.com/acme/fake';
const program = '#!/bin/sh\nexit 1\n';

const write = (path: string, content: string | Buffer, mode = 0o644) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
};
const entries = (cache: string): string[] => (existsSync(cache) ? readdirSync(cache) : []);
const lockOf = (checksum: string, of = address, version = '1.2.3') =>
  `provider "${of}" {\n  version = "${version}"\n  hashes = [\n    "h1:${checksum}",\n  ]\n}\n`;

describe('the provider cache', () => {
  let root: string;
  const at = (...names: string[]) => join(root, ...names);
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'provider-cache-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const installed = () => at('providers', address, '1.2.3', platform);
  const install = async (content = program): Promise<string> => {
    write(join(installed(), 'terraform-provider-fake_v1.2.3'), content, 0o755);
    write(join(installed(), 'LICENSE'), 'free\n');
    write(join(installed(), 'docs', 'index.md'), 'docs\n');
    const checksum = await packageChecksum(installed());
    write(at('lock.hcl'), lockOf(checksum));
    return checksum;
  };
  const cache = (maxBytes?: number) => new ProviderCache(at('cache'), platform, maxBytes);
  const lockText = (file = at('lock.hcl')) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const keep = (of = cache()) => of.keep(lockText(), at('providers'), at('plugin-cache'));
  const offer = async (lock = at('lock.hcl')): Promise<string[]> => {
    rmSync(at('offered'), { recursive: true, force: true });
    await cache().offer(lockText(lock), at('offered'), undefined);
    const all = readdirSync(at('offered'), { recursive: true, withFileTypes: true });
    const folders = all.filter((entry) => entry.isDirectory());
    for (const { parentPath, name } of folders) expect(statSync(join(parentPath, name)).mode).toBe(0o40755);
    return all.filter((entry) => entry.isFile()).map(({ name }) => name);
  };

  it('offers only providers in the lock file', async () => {
    await install();
    await keep();
    expect((await offer()).sort()).toEqual(['LICENSE', 'index.md', 'terraform-provider-fake_v1.2.3']);
    const offered = at('offered', address, '1.2.3', platform);
    expect(readFileSync(join(offered, 'terraform-provider-fake_v1.2.3'), 'utf8')).toBe(program);
    write(at('other.hcl'), lockOf(`${'A'.repeat(43)}=`));
    expect(await offer(at('other.hcl'))).toEqual([]);
    expect(await offer(at('missing.hcl'))).toEqual([]);
  });

  it('does not cache a package whose checksum differs from the lock file', async () => {
    await install();
    write(join(installed(), 'LICENSE'), 'changed\n');
    await keep();
    expect(entries(at('cache'))).toEqual([]);
  });

  it('removes a modified entry without offering it', async () => {
    await install();
    await keep();
    const [entry = ''] = entries(at('cache'));
    const file = at('cache', entry, 'terraform-provider-fake_v1.2.3');
    expect(statSync(file).mode & 0o222).toBe(0);
    chmodSync(file, 0o755);
    writeFileSync(file, '#!/bin/sh\nsteal\n');
    expect(await offer()).toEqual([]);
    expect(entries(at('cache'))).toEqual([]);
  });

  it('does not follow links out of Terraform’s installation', async () => {
    write(at('secrets', 'key'), 'secret');
    const checksum = await packageChecksum(at('secrets'));
    mkdirSync(dirname(installed()), { recursive: true });
    symlinkSync(at('secrets'), installed());
    write(at('lock.hcl'), lockOf(checksum));
    await keep();
    expect(entries(at('cache'))).toEqual([]);
  });

  it('removes entries unused for a month, and the least recently used beyond its limit', async () => {
    for (const name of ['old', 'less', 'more']) write(at('cache', name, 'file'), name.repeat(100));
    const daysAgo = (name: string, days: number) => {
      const time = Date.now() / 1000 - days * 24 * 3600;
      utimesSync(at('cache', name), time, time);
    };
    daysAgo('old', 31);
    daysAgo('less', 2);
    daysAgo('more', 1);
    write(at('lock.hcl'), '');
    mkdirSync(at('providers'));
    for (const [maxBytes, kept] of [
      [100_000, ['less', 'more']],
      [800, ['less', 'more']],
      [799, ['more']],
    ] as const) {
      await keep(cache(maxBytes));
      expect(entries(at('cache')).sort()).toEqual(kept);
    }
  });

  it("pins a provider only with a completely parsed lock file that has the package's checksum", async () => {
    const pinned = async (lock: string) => isPinned(lock, at('providers'), platform);
    const lock = lockOf(await install());
    expect(await pinned('')).toBe(true);
    expect(await pinned(`# This file is maintained automatically by "terraform init".\n\n${lock}`)).toBe(true);
    const constraints = '"1.2.3"\n  constraints = "~> 1.0"\n';
    expect(await pinned(lock.replace('"1.2.3"\n', constraints))).toBe(true);
    expect(await pinned(`${lock}\n${lockOf(`${'A'.repeat(43)}=`, 'registry.example.com/acme/absent')}`)).toBe(false);
    expect(await pinned(lock.replace('h1:', 'zh:'))).toBe(false);
    expect(await pinned(`${lock}provider"registry.example.com/acme/hidden" { version = "1.0.0" }\n`)).toBe(false);
    write(join(installed(), 'LICENSE'), 'changed\n');
    expect(await pinned(lock)).toBe(false);
  });

  it.each([
    ['../../etc/passwd', '1.2.3'],
    ['registry.example.com/acme/..', '1.2.3'],
    ['/etc/acme/fake', '1.2.3'],
    [address, '../../../1.2.3'],
    [address, '1.2.3-/../..'],
  ])('reads no provider "%s" of version %s from a lock file', (of, version) => {
    expect(lockedProviders(lockOf(`${'A'.repeat(43)}=`, of, version))).toEqual([]);
  });
});

describe('a run', () => {
  const bench = Bench.use();
  const main = `terraform {\n  required_providers {\n    fake = {\n      source = "${address}"\n    }\n  }\n}\nresource "terraform_data" "a" {}\n`;
  /**
   * Terraform installs only from this folder. The program in it is not executable, so init succeeds and the plan
   * fails.
   */
  const mirror = (): string => {
    const folder = join(bench.directory, 'mirror');
    const name = 'terraform-provider-fake_v1.2.3';
    write(join(folder, address, `terraform-provider-fake_1.2.3_${platform}.zip`), zip(name, Buffer.from(program)));
    const file = join(bench.directory, 'mirror.tfrc');
    write(file, `provider_installation {\n  filesystem_mirror {\n    path = "${folder}"\n  }\n}\n`);
    return file;
  };
  const lock = async (): Promise<string> => {
    const unpacked = join(bench.directory, 'unpacked');
    write(join(unpacked, 'terraform-provider-fake_v1.2.3'), program);
    return lockOf(await packageChecksum(unpacked));
  };
  const cache = () => join(bench.directory, 'provider-cache');
  const plan = async (files: Record<string, string>) => {
    const variables = [{ key: 'TF_CLI_CONFIG_FILE', value: mirror(), category: 'env' as const }];
    const job = jobFor(bench.plane, await archive(files), { variables });
    return bench.run(job, { STEPFORM_PROVIDER_CACHE: cache() });
  };
  const installed = `Installed ${address} v1.2.3`;
  const shared = `Using ${address} v1.2.3 from the shared cache directory`;

  it('gets a provider that another run installed, if its lock file has it', async () => {
    expect((await plan({ 'main.tf': main })).log).toContain(installed);
    expect(entries(cache())).toHaveLength(1);
    expect((await plan({ 'main.tf': main, '.terraform.lock.hcl': await lock() })).log).toContain(shared);
    // Without a lock file there is no checksum to compare, so Terraform installs the provider itself.
    expect((await plan({ 'main.tf': main })).log).toContain(installed);
    expect(entries(cache())).toHaveLength(1);
  }, 60_000);

  it('gets no provider that was modified after the check', async () => {
    await plan({ 'main.tf': main });
    const [entry = ''] = entries(cache());
    const file = join(cache(), entry, 'terraform-provider-fake_v1.2.3');
    chmodSync(file, 0o755);
    writeFileSync(file, '#!/bin/sh\necho stolen\n');
    expect((await plan({ 'main.tf': main, '.terraform.lock.hcl': await lock() })).log).toContain(installed);
    // The package that was installed instead is cached.
    expect(entries(cache())).toEqual([entry]);
    expect(readFileSync(file, 'utf8')).toBe(program);
  }, 60_000);
});
