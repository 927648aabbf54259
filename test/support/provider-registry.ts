import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createMessage, generateKey, sign } from 'openpgp';
import { keepTls } from '#infra/local/host/tls.ts';
import { platform } from '#runner/program/binary/platform.ts';

/**
 * A provider registry on this machine, from which Terraform installs like from a public one: over HTTPS, and signed.
 */
export interface ProviderRegistry {
  /** `localhost:12345` */
  host: string;
  /** Certificate of the authority to trust. */
  caFile: string;
  /** Serves a provider of the namespace `acme`; `served` is sent in its place by a lying registry. */
  add(type: string, version: string, zip: Buffer, served?: Buffer): { address: string; sha256: string };
  /** Downloads of packages, in order: `<user agent> <type>`. */
  downloads: string[];
  close(): Promise<void>;
}

const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

const tickMs = 20;

const sendSlowly = async (body: Buffer, to: ServerResponse, bytesPerSecond = Number.POSITIVE_INFINITY) => {
  const piece = Math.min(body.length, (bytesPerSecond * tickMs) / 1000) || 1;
  for (let at = 0; at < body.length; at += piece) {
    to.write(body.subarray(at, at + piece));
    if (piece < body.length) await setTimeout(tickMs);
  }
  to.end();
};

interface Package {
  version: string;
  zip: Buffer;
  served: Buffer;
}

/** @param bytesPerSecond rate at which it sends packages; missing: unlimited */
export const startProviderRegistry = async ({
  bytesPerSecond,
}: {
  bytesPerSecond?: number;
} = {}): Promise<ProviderRegistry> => {
  const folder = mkdtempSync(join(tmpdir(), 'provider-registry-'));
  const { key, cert, caFile } = await keepTls(folder);
  // The key type that registries accept.
  const options = { type: 'rsa', rsaBits: 2048, format: 'object' } as const;
  const { privateKey, publicKey } = await generateKey({ ...options, userIDs: [{ name: 'Acme' }] });
  const packages = new Map<string, Package>();
  const downloads: string[] = [];
  const [os = '', arch = ''] = platform.split('_');

  const described = (type: string, { version, zip }: Package) => {
    const filename = `terraform-provider-${type}_${version}_${platform}.zip`;
    const sums = `${sha256Of(zip)}  ${filename}\n`;
    const at = (what: string) => `https://${registry.host}/files/${type}/${what}`;
    const document = {
      protocols: ['5.0', '6.0'],
      os,
      arch,
      filename,
      download_url: at('package'),
      shasum: sha256Of(zip),
      shasums_url: at('sums'),
      shasums_signature_url: at('signature'),
      signing_keys: {
        gpg_public_keys: [{ key_id: publicKey.getKeyID().toHex().toUpperCase(), ascii_armor: publicKey.armor() }],
      },
    };
    return { document, sums };
  };
  const file = async (type: string, what: string, found: Package, agent: string): Promise<Buffer> => {
    if (what === 'package') {
      downloads.push(`${agent.split(/[/ ]/)[0]} ${type}`);
      return found.served;
    }
    const { sums } = described(type, found);
    if (what === 'sums') return Buffer.from(sums);
    const message = await createMessage({ text: sums });
    return Buffer.from(await sign({ message, signingKeys: privateKey, detached: true, format: 'binary' }));
  };
  const answer = async (path: string, agent: string): Promise<Buffer | object | undefined> => {
    if (path === '/.well-known/terraform.json') return { 'providers.v1': '/v1/providers/' };
    const [, type = '', what = ''] = /^\/(?:v1\/providers\/acme|files)\/(\w+)\/(.+)$/.exec(path) ?? [];
    const found = packages.get(type);
    if (!found) return undefined;
    const { version } = found;
    if (path.startsWith('/files/')) return file(type, what, found, agent);
    if (what === 'versions') return { versions: [{ version, protocols: ['5.0', '6.0'], platforms: [{ os, arch }] }] };
    return what === `${version}/download/${os}/${arch}` ? described(type, found).document : undefined;
  };
  const server = createServer({ key, cert }, async ({ url = '', headers }, response) => {
    const body = await answer(url, String(headers['user-agent']));
    if (body === undefined) response.writeHead(404).end();
    else if (Buffer.isBuffer(body))
      await sendSlowly(body, response.writeHead(200, { 'content-length': body.length }), bytesPerSecond);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const registry: ProviderRegistry = {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    caFile,
    add: (type, version, zip, served = zip) => {
      packages.set(type, { version, zip, served });
      return { address: `${registry.host}/acme/${type}`, sha256: sha256Of(zip) };
    },
    downloads,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return registry;
};
