import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMessage, generateKey, readKey, readPrivateKey, sign } from 'openpgp';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { downloadBinary } from '#runner/program/binary/download.ts';
import { findBinary } from '#runner/program/binary/find.ts';
import { hashicorpKey } from '#runner/program/binary/hashicorp-key.ts';
import { platform } from '#runner/program/binary/platform.ts';
import type { Settings } from '#runner/program/settings.ts';
import { outputOf } from '#runner/program/terraform/process.ts';
import { User } from '#runner/program/terraform/users.ts';
import { zip } from '../zip.ts';

/** A local release server with its own signing key; only the verification is real. */

const never = new AbortController().signal;
const ask = (path: string) => {
  const environment = { PATH: process.env.PATH ?? '' };
  const user = new User();
  return outputOf({ path, args: ['version', '-json'], directory, environment, user }, 10_000);
};
let ours: { privateKey: string; publicKey: string };
let stranger: typeof ours;
let server: Server;
let directory: string;
const files = new Map<string, Buffer>();

const signed = async (text: Buffer, by: typeof ours): Promise<Buffer> => {
  const key = await readPrivateKey({ armoredKey: by.privateKey });
  const message = await createMessage({ binary: text });
  return Buffer.from((await sign({ message, signingKeys: key, detached: true, format: 'binary' })) as Uint8Array);
};

const publish = async (engine: 'terraform' | 'tofu', version: string, by = ours): Promise<void> => {
  const path = engine === 'terraform' ? `/${version}` : `/v${version}`;
  const name = `${engine}_${version}_${platform}.zip`;
  const archive = zip(engine, Buffer.from(`#!/bin/sh\necho ${engine} ${version}\n`));
  const sum = createHash('sha256').update(archive).digest('hex');
  const sums = Buffer.from(`${'0'.repeat(64)}  other.zip\n${sum}  ${name}\n`);
  files.set(`${path}/${name}`, archive);
  files.set(`${path}/${engine}_${version}_SHA256SUMS`, sums);
  if (engine === 'terraform') {
    files.set(`${path}/${engine}_${version}_SHA256SUMS.72D7468F.sig`, await signed(sums, by));
  }
};

const newKey = async () => generateKey({ type: 'rsa', rsaBits: 2048, userIDs: [{ name: 'test' }], format: 'armored' });

beforeAll(async () => {
  [ours, stranger] = await Promise.all([newKey(), newKey()]);
  server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/moved/, '');
    if (path !== request.url) return response.writeHead(302, { location: path }).end();
    const found = files.get(path);
    response.writeHead(found ? 200 : 404).end(found);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'download-test-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
  files.clear();
});

const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const settings = (change: Partial<Settings> = {}): Settings => ({
  hosts: [],
  url: '',
  claim: '',
  cacheDirectory: directory,
  keptStates: directory,
  releases: { terraform: `${base()}/moved`, tofu: base(), tofuIndex: `${base()}/index` },
  passOn: [],
  terraformUsers: 'none',
  rooms: true,
  roomFolders: [],
  inherited: { PATH: join(directory, 'bin'), HOME: directory },
  ...change,
});
const download = (engine: 'terraform' | 'tofu', version: string) =>
  downloadBinary({ engine, version, releases: settings().releases, directory, signal: never, key: ours.publicKey });

describe('a download', () => {
  it.each(['terraform', 'tofu'] as const)('of %s is kept unpacked for later runs', async (engine) => {
    await publish(engine, '1.2.3');
    const path = await download(engine, '1.2.3');
    expect(path).toBe(join(directory, engine, '1.2.3', engine));
    expect(readFileSync(path, 'utf8')).toContain(`${engine} 1.2.3`);
    expect(readdirSync(join(directory, engine))).toEqual(['1.2.3']);
  });

  it('that runs twice concurrently ends with one complete file', async () => {
    await publish('terraform', '1.2.3');
    const [one, two] = await Promise.all([download('terraform', '1.2.3'), download('terraform', '1.2.3')]);
    expect(one).toBe(two);
    expect(existsSync(one)).toBe(true);
  });

  it('is rejected when another key has signed the checksums', async () => {
    await publish('terraform', '1.2.3', stranger);
    await expect(download('terraform', '1.2.3')).rejects.toThrow('is not signed by the expected key');
    expect(readdirSync(join(directory, 'terraform'))).toEqual([]);
  });

  it('is rejected when the checksums were changed after signing', async () => {
    await publish('terraform', '1.2.3');
    const name = '/1.2.3/terraform_1.2.3_SHA256SUMS';
    files.set(name, Buffer.concat([files.get(name) as Buffer, Buffer.from('\n')]));
    await expect(download('terraform', '1.2.3')).rejects.toThrow(/signature of .* is not valid/);
  });

  it.each(['terraform', 'tofu'] as const)(
    'of %s is rejected when the checksum of the archive differs',
    async (engine) => {
      await publish(engine, '1.2.3');
      const name = `${engine === 'tofu' ? '/v' : '/'}1.2.3/${engine}_1.2.3_${platform}.zip`;
      files.set(name, zip(engine, Buffer.from('evil')));
      await expect(download(engine, '1.2.3')).rejects.toThrow('instead of');
      expect(existsSync(join(directory, engine, '1.2.3'))).toBe(false);
    },
  );

  it('fails for an unknown version', async () => {
    await expect(download('terraform', '9.9.9')).rejects.toThrow('HTTP 404');
  });

  it('is checked with HashiCorp’s key', async () => {
    const key = await readKey({ armoredKey: hashicorpKey });
    expect(key.getFingerprint().toUpperCase()).toBe('C874011F0AB405110D02105534365D9472D7468F');
    await publish('terraform', '1.2.3');
    await expect(findBinary({ engine: 'terraform', version: '1.2.3' }, settings(), never, ask)).rejects.toThrow(
      'is not signed by the expected key',
    );
  });
});

describe('the search for a binary', () => {
  const install = (version: string, engine = 'terraform') => {
    const path = join(directory, 'bin');
    mkdirSync(path, { recursive: true });
    writeFileSync(
      join(path, engine),
      `#!/bin/sh\necho asked >> ${directory}/asked\necho '{"terraform_version":"${version}","platform":"linux_test"}'\n`,
      { mode: 0o755 },
    );
  };

  it('uses the binary on PATH if its version matches', async () => {
    install('1.9.8');
    for (const version of ['1.9.8', '~> 1.5', 'latest']) {
      expect(await findBinary({ engine: 'terraform', version }, settings(), never, ask)).toMatchObject({
        path: join(directory, 'bin/terraform'),
        version: '1.9.8',
        platform: 'linux_test',
      });
    }
    // A script of a few bytes is a wrapper, whose version is not cached.
    expect(readFileSync(join(directory, 'asked'), 'utf8').trim().split('\n')).toHaveLength(3);
  });

  it('caches the version of a real binary until it changes', async () => {
    const real = (process.env.PATH ?? '').split(':').find((one) => existsSync(join(one, 'terraform'))) as string;
    const found = await findBinary(
      { engine: 'terraform', version: 'latest' },
      settings({ inherited: { PATH: real } }),
      never,
      ask,
    );
    const [memory] = readdirSync(join(directory, 'versions'));
    expect(JSON.parse(readFileSync(join(directory, 'versions', memory as string), 'utf8'))).toEqual({
      version: found.version,
      platform: found.platform,
    });
    writeFileSync(join(directory, 'versions', memory as string), '{"version":"1.2.3","platform":"p"}');
    const again = await findBinary(
      { engine: 'terraform', version: 'latest' },
      settings({ inherited: { PATH: real } }),
      never,
      ask,
    );
    expect(again.version).toBe('1.2.3');
  });

  it('downloads the newest matching version if none is installed, and caches it', async () => {
    install('1.9.8', 'tofu');
    for (const version of ['1.10.0', '1.10.7', '1.11.0']) await publish('tofu', version);
    const ids = ['1.10.0', '1.10.7', '1.10.8-rc1', '1.11.0'].map((id) => ({ id }));
    files.set('/index', Buffer.from(JSON.stringify({ versions: ids })));
    const found = await findBinary({ engine: 'tofu', version: '~> 1.10.0' }, settings(), never, ask);
    expect(found).toMatchObject({ engine: 'tofu', version: '1.10.7', platform });
    files.clear();
    expect(await findBinary({ engine: 'tofu', version: '1.10.7' }, settings(), never, ask)).toEqual(found);
  });

  it('names the available and the requested version on failure', async () => {
    install('1.9.8');
    const nowhere = { terraform: 'http://127.0.0.1:9/x', tofu: '', tofuIndex: '' };
    const started = Date.now();
    await expect(
      findBinary({ engine: 'terraform', version: '~> 1.10.0' }, settings({ releases: nowhere }), never, ask),
    ).rejects.toThrow(
      /Terraform ~> 1\.10\.0 was not found: the one on the runner's PATH is 1\.9\.8 \(.*\/terraform\), and a download failed \(.*ECONNREFUSED.*\)\. Set the Terraform version of the workspace to 1\.9\.8, which is available, or allow the runner/,
    );
    expect(Date.now() - started).toBeLessThan(120_000);
  });

  it.each([
    [
      'a pre-release',
      'echo \'{"terraform_version":"1.15.0-beta1","platform":"linux_test"}\'',
      /PATH is 1\.15\.0-beta1 .*Set the Terraform version of the workspace to 1\.15\.0-beta1, which/,
    ],
    [
      'one that does not start',
      'echo no home >&2; exit 1',
      /bin\/terraform on the runner's PATH does not report its version .*Put terraform on the PATH/,
    ],
    [
      'none',
      undefined,
      /: terraform not found on the runner's PATH, .*Put terraform on the PATH of the runner, or allow/,
    ],
  ])('reports which versions exist if the latest cannot be downloaded: %s', async (_, script, message) => {
    install('1.9.8');
    const path = join(directory, 'bin/terraform');
    if (script) writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    else rmSync(path);
    const nowhere = { terraform: 'http://127.0.0.1:9/x', tofu: '', tofuIndex: '' };
    await expect(
      findBinary({ engine: 'terraform', version: 'latest' }, settings({ releases: nowhere }), never, ask),
    ).rejects.toThrow(message);
  });

  it('times out when the server does not respond', async () => {
    const silent = createServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const started = Date.now();
    await expect(
      findBinary(
        { engine: 'terraform', version: '1.0.0' },
        settings({ releases: { ...settings().releases, terraform: url } }),
        never,
        ask,
      ),
    ).rejects.toThrow(/terraform not found on the runner's PATH, and a download failed/);
    expect(Date.now() - started).toBeLessThan(120_000);
    silent.closeAllConnections();
    silent.close();
  });

  it('rejects an invalid version', async () => {
    await expect(findBinary({ engine: 'terraform', version: 'newest' }, settings(), never, ask)).rejects.toThrow(
      'The workspace\'s Terraform version is not valid: "newest"',
    );
  });
});
