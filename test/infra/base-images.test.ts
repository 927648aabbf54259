import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BaseImages, baseImages, referenceOf } from '#infra/build/base-images.ts';
import { digestOf, refresh } from '#infra/build/refresh-base-images.ts';
import { keepTls } from '#infra/local/host/tls.ts';

/** The digests of base images, from a registry as the OCI distribution specification describes it. */

let server: Server;
let host: string;
let manifest: { type: string; body: string; announced?: string };
let requests: (string | undefined)[];

const index = JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: [] });
const digest = `sha256:${createHash('sha256').update(index).digest('hex')}`;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request.url);
    if (request.url?.startsWith('/token?')) return response.end(JSON.stringify({ token: 'anonymous' }));
    if (request.headers.authorization !== 'Bearer anonymous') {
      const challenge = `Bearer realm="http://${host}/token",service="public.ecr.aws",scope="repository:docker/library/node:pull"`;
      return response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    if (!request.url?.endsWith('/24-bookworm')) return response.writeHead(404).end();
    const headers = {
      'content-type': manifest.type,
      ...(manifest.announced ? { 'docker-content-digest': manifest.announced } : {}),
    };
    return response.writeHead(200, headers).end(manifest.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  requests = [];
  manifest = { type: 'application/vnd.oci.image.index.v1+json', body: index, announced: digest };
});

const image = (tag = '24-bookworm') => ({ repository: `${host}/docker/library/node`, tag, digest: null });

it('a digest is that of the index, read with an anonymous token', async () => {
  expect(await digestOf(image(), 'http')).toBe(digest);
  expect(requests).toEqual([
    '/v2/docker/library/node/manifests/24-bookworm',
    '/token?service=public.ecr.aws&scope=repository%3Adocker%2Flibrary%2Fnode%3Apull',
    '/v2/docker/library/node/manifests/24-bookworm',
  ]);
});

it.each<[string, () => Promise<unknown>, RegExp]>([
  ['a tag that does not exist', () => digestOf(image('none'), 'http'), /node:none: HTTP 404/],
  [
    'an image for one platform',
    () => {
      const mediaType = 'application/vnd.oci.image.manifest.v1+json';
      manifest = { type: mediaType, body: JSON.stringify({ mediaType }) };
      return digestOf(image(), 'http');
    },
    /is not an image index/,
  ],
  [
    'an index with another content than announced',
    () => {
      manifest.announced = `sha256:${'0'.repeat(64)}`;
      return digestOf(image(), 'http');
    },
    /announces sha256:000/,
  ],
])('%s is refused', async (_, read, words) => {
  await expect(read()).rejects.toThrow(words);
});

it('an image with a digest is never named by its tag', async () => {
  const refreshed = await refresh({ node: image(), nodeSlim: image(), debian: image() }, 'http');
  expect(Object.values(refreshed).map(referenceOf)).toEqual(
    Array.from({ length: 3 }, () => `${host}/docker/library/node@${digest}`),
  );
  expect(referenceOf(image())).toBe(`${host}/docker/library/node:24-bookworm`);
});

describe('npm run base-images', () => {
  let folder: string;
  let secure: HttpsServer;
  let file: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'base-images-'));
    file = join(folder, 'base-images.json');
    secure = createSecureServer(await keepTls(folder), (request, response) => {
      if (!request.url?.startsWith('/v2/docker/library/') || request.url.endsWith('/none'))
        return response.writeHead(404).end();
      return response.writeHead(200, { 'content-type': manifest.type }).end(manifest.body);
    });
    await new Promise<void>((done) => secure.listen(0, '127.0.0.1', done));
  });
  afterAll(() => {
    secure.close();
    rmSync(folder, { recursive: true });
  });

  /** @returns exit code and output */
  const command = (): Promise<{ code: number | string; output: string }> =>
    new Promise((resolve) => {
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
      execFile(process.execPath, ['infra/build/refresh-base-images.ts', file], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, output: stdout + stderr }),
      );
    });
  const images = (tag = '24-bookworm'): BaseImages => {
    const registry = `127.0.0.1:${(secure.address() as AddressInfo).port}`;
    const of = (name: string) => ({ repository: `${registry}/docker/library/${name}`, tag, digest: null });
    return { node: of('node'), nodeSlim: of('node'), debian: of('debian') };
  };

  it('writes the digests of a registry, and tells which are new', async () => {
    writeFileSync(file, JSON.stringify(images()));
    const first = await command();
    expect(first.output.trim().split('\n')).toHaveLength(3);
    expect(first).toMatchObject({ code: 0, output: expect.stringContaining(`debian:24-bookworm ${digest} (new)`) });
    expect(Object.values(baseImages(file)).map(({ digest: pinned }) => pinned)).toEqual([digest, digest, digest]);
    // One line for each image, as in the repository.
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(6);
    expect((await command()).output).not.toContain('(new)');
  });

  it('changes nothing if an image is missing', async () => {
    const before = JSON.stringify({ ...images(), debian: images('none').debian });
    writeFileSync(file, before);
    expect(await command()).toMatchObject({
      code: 1,
      output: expect.stringMatching(/unchanged: .*debian:none: HTTP 404/),
    });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});

it('the Dockerfile takes its base images from the file, whose digests are whole', () => {
  const images = baseImages();
  for (const { digest: pinned } of Object.values(images))
    if (pinned !== null) expect(pinned).toMatch(/^sha256:[0-9a-f]{64}$/);
  const dockerfile = readFileSync('functions/runner/program/Dockerfile', 'utf8');
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the Dockerfile
  expect(bases).toEqual(['${ENGINE_IMAGE}', '${NODE_IMAGE}', '${DEBIAN_IMAGE}']);
  expect(dockerfile).toContain(`ARG NODE_IMAGE=${images.nodeSlim.repository}:${images.nodeSlim.tag}\n`);
  expect(dockerfile).toContain(`ARG DEBIAN_IMAGE=${images.debian.repository}:${images.debian.tag}\n`);
});
