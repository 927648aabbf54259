import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { downloadOpa, keptOpa, onPath, opaAtHand } from '#resources/policies/engine/find-engine.ts';
import { opaVersion } from '#resources/policies/engine/opa-release.ts';
import { type Serving, serve } from '#test/support/serve.ts';

/** Downloads of engines: a server that answers like GitHub's releases, with a redirect to another host for the file. */

const folder = mkdtempSync(join(tmpdir(), 'engines-'));
const content = '#!/bin/sh\necho "Version: 1.19.0"\n';
const release = { file: 'opa_linux_amd64_static', sha256: createHash('sha256').update(content).digest('hex') };
let server: Serving;
let answer: RequestListener;
const before = { ...process.env };

const releases: RequestListener = (request, response) => {
  if (request.url === `/v${opaVersion}/${release.file}`)
    return response.writeHead(302, { location: '/asset?sig=x' }).end();
  if (request.url === '/asset?sig=x') return response.writeHead(200).end(content);
  return response.writeHead(404).end();
};

beforeEach(async () => {
  answer = releases;
  server = await serve((request, response) => answer(request, response));
  process.env.STEPFORM_OPA_RELEASES = server.url;
  process.env.STEPFORM_CACHE = mkdtempSync(join(folder, 'cache-'));
  process.env.PATH = mkdtempSync(join(folder, 'path-'));
});
afterEach(async () => {
  Object.assign(process.env, before);
  await server.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const download = (of = release) => downloadOpa(AbortSignal.timeout(10_000), of);

describe('a download', () => {
  it('is checked, kept, and found again', async () => {
    expect(await opaAtHand()).toBeUndefined();
    const [path] = await Promise.all([download(), download()]);
    expect(path).toBe(keptOpa());
    expect(readFileSync(path, 'utf8')).toBe(content);
    expect(await opaAtHand()).toBe(path);
    expect(readdirSync(dirname(path))).toEqual(['opa']);
  });

  it.each<[string, RequestListener, RegExp]>([
    [
      'is not what was released',
      (_, response) => response.writeHead(200).end('evil'),
      /has checksum \w{64} instead of/,
    ],
    ['is missing', (_, response) => response.writeHead(404).end(), /HTTP 404/],
    [
      'leads elsewhere',
      (_, response) => response.writeHead(302, { location: 'ftp://127.0.0.1/' }).end(),
      /another protocol/,
    ],
    [
      'leads in circles',
      (request, response) => response.writeHead(302, { location: request.url }).end(),
      /too many redirects/,
    ],
    [
      'breaks off',
      (_, response) => response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy()),
      /aborted|closed|reset/i,
    ],
  ])('that %s leaves nothing', async (_, handler, message) => {
    answer = handler;
    await expect(download()).rejects.toThrow(message);
    expect(existsSync(keptOpa())).toBe(false);
    expect(readdirSync(dirname(keptOpa()))).toEqual([]);
  });
});

describe('the search path', () => {
  it('precedes downloads, and needs an executable', async () => {
    await download();
    const file = join(process.env.PATH ?? '', 'opa');
    writeFileSync(file, content);
    expect(await onPath('opa')).toBeUndefined();
    chmodSync(file, 0o755);
    expect(await opaAtHand()).toBe(file);
    mkdirSync(join(process.env.PATH ?? '', 'sentinel'));
    expect(await onPath('sentinel')).toBeUndefined();
  });
});
