import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Api, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { judgedRuns } from '#test/support/policy-runs.ts';

/** Versions of policy engines: the operator's list, and sets that require one of them. */

let api: Api;
let help: Awaited<ReturnType<typeof judgedRuns>>;
let results: typeof import('#resources/policies/result-records.ts');
const cache = mkdtempSync(join(tmpdir(), 'tools-'));
const before = { ...process.env };
/** A mirror of OPA's releases. */
let mirror: Server;
let releases: string;
let downloads = 0;
let sha256: string;

beforeAll(async () => {
  const binary = readFileSync(inject('opa'));
  sha256 = createHash('sha256').update(binary).digest('hex');
  mirror = createServer((_, response) => {
    downloads++;
    response.writeHead(200).end(binary);
  });
  await new Promise<void>((resolve) => mirror.listen(0, '127.0.0.1', resolve));
  releases = `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/releases`;
  process.env.STEPFORM_OPA_RELEASES = releases;
  api = await startApi();
  process.env.STEPFORM_CACHE = cache;
  help = await judgedRuns(api);
  results = await import('#resources/policies/result-records.ts');
});
afterAll(async () => {
  await api.close();
  Object.assign(process.env, before);
  await new Promise((resolve) => mirror.close(resolve));
  rmSync(cache, { recursive: true, force: true });
});

const list = 'admin/opa-versions';
let last = 0;
const number = () => `0.0.${++last + 1000}`;
const sha = 'a'.repeat(64);
const url = 'https://www.example.com/opa';

describe.each(['opa', 'sentinel'])('admin/%s-versions', (tool) => {
  const path = `admin/${tool}-versions`;

  it('are created, found, changed and deleted by operators', async () => {
    const version = number();
    const made = await api.post(path, { version, url, sha });
    expect([made.status, made.body.data.type]).toEqual([201, `${tool}-versions`]);
    expect(made.body.data.attributes).toMatchObject({
      version,
      url,
      sha,
      official: false,
      enabled: true,
      deprecated: false,
      'deprecated-reason': null,
      beta: false,
      archs: [{ url, sha, os: 'linux', arch: 'amd64' }],
    });
    const one = `${path}/${made.body.data.id}`;
    expect((await api.get(one)).body.data).toEqual(made.body.data);
    const found = async (query: string) => (await api.get(`${path}?${query}`)).body.data.length;
    expect(await found(`filter[version]=${version}`)).toBe(1);
    expect(await found(`search[version]=${version.slice(0, -1)}`)).toBeGreaterThan(0);
    expect(await found('filter[version]=1000.1000.42')).toBe(0);
    expect((await api.post(path, { version, url, sha })).status).toBe(422);
    const archs = [{ url: `${url}/arm`, sha: 'b'.repeat(64), os: 'linux', arch: 'arm64' }];
    const changed = await api.patch(one, { archs, deprecated: true, 'deprecated-reason': 'old' });
    expect(changed.body.data.attributes).toMatchObject({
      version,
      url: null,
      sha: null,
      archs,
      'deprecated-reason': 'old',
    });
    expect((await api.patch(one, { url, sha })).body.data.attributes).toMatchObject({ url, sha });
    expect((await api.call('DELETE', one)).status).toBe(204);
    expect((await api.get(one)).status).toBe(404);
  });

  it('need an address and a checksum for each build', async () => {
    for (const [attributes, field] of [
      [{ version: 'latest', url, sha }, 'version'],
      [{ version: number(), url }, 'sha'],
      [{ version: number(), sha }, 'url'],
      [{ version: number() }, 'url'],
      [{ version: number(), url: 'file:///etc/passwd', sha }, 'url'],
      [{ version: number(), url, sha: 'short' }, 'sha'],
      [{ version: number(), archs: [{ url, sha, os: 'windows', arch: 'amd64' }] }, 'os'],
      [{ version: number(), archs: Array(2).fill({ url, sha, os: 'linux', arch: 'amd64' }) }, 'archs'],
    ] as const) {
      const { status, body } = await api.post(path, attributes);
      expect([status, body.errors[0].source.pointer]).toEqual([422, expect.stringContaining(field)]);
    }
  });

  it('are 404 for others', async () => {
    const { token } = await (await memberHelpers()).newUser(uniqueName('user'));
    const { id } = (await api.post(path, { version: number(), url, sha })).body.data;
    const data = { attributes: { version: number(), url, sha } };
    for (const [method, of] of [
      ['GET', path],
      ['POST', path],
      ['GET', `${path}/${id}`],
      ['PATCH', `${path}/${id}`],
      ['DELETE', `${path}/${id}`],
    ] as const) {
      const { status } = await api.call(method, of, { token, ...(method === 'GET' ? {} : { body: { data } }) });
      expect([method, of, status]).toEqual([method, of, 404]);
    }
    expect((await api.get(`${path}/${id}`)).status).toBe(200);
  });
});

it("the platform's own version of OPA is in the list and cannot be changed", async () => {
  const { data } = (await api.get(list)).body;
  const own = data.find(({ attributes }: { attributes: { official: boolean } }) => attributes.official);
  expect(own.attributes.url).toMatch(new RegExp(`^${releases}/v${own.attributes.version}/`));
  for (const [method, body] of [
    ['PATCH', { data: { attributes: { enabled: false } } }],
    ['DELETE', undefined],
  ] as const) {
    expect((await api.call(method, `${list}/${own.id}`, { body })).status).toBe(422);
  }
  expect((await api.post(list, { version: own.attributes.version, url, sha })).status).toBe(422);
});

describe('a policy set that requires a version', () => {
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';

  /** The outcome of a set with a policy that passes. */
  const judged = async (build: { url: string; sha: string }, more: object = {}) => {
    const version = number();
    const added = await api.post(list, { version, archs: [{ ...build, os: 'linux', arch }], ...more });
    expect(added.status).toBe(201);
    const { workspaceId } = await help.guarded('deny := []', 'mandatory', { 'policy-tool-version': version });
    const run = await help.planned(workspaceId);
    const verdict = await help.evaluatePolicies(run);
    const stored = await results.getPolicyResult(run.id, 'evaluation');
    const [outcome] = stored ? await results.readPolicySetOutcomes(stored) : [];
    return { verdict: verdict.verdict, outcome };
  };

  it('is evaluated by its binary, which is downloaded once', async () => {
    const build = { url: `${releases}/v9/opa`, sha: sha256 };
    const { verdict, outcome } = await judged(build);
    expect([verdict, outcome?.error]).toEqual(['passed', undefined]);
    expect(outcome?.policyToolVersion).toMatch(/^\d/);
    expect(downloads).toBe(1);
    expect((await judged(build)).verdict).toBe('passed');
    expect(downloads).toBe(1);
  });

  it.each([
    ['from another place', () => ({ url: 'http://127.0.0.1:9/opa', sha: sha256 }), {}, /its URL is not below/],
    ['above the releases', () => ({ url: `${releases}/../opa`, sha: sha256 }), {}, /its URL is not below/],
    ['with another checksum', () => ({ url: `${releases}/v9/opa`, sha }), {}, /has checksum .* instead of a{64}/],
    ['that is disabled', () => ({ url: `${releases}/v9/opa`, sha: sha256 }), { enabled: false }, /disabled it/],
  ])('fails with a version %s', async (_, build, more, reason) => {
    const { verdict, outcome } = await judged(build(), more);
    expect([verdict, outcome?.error]).toEqual(['failed', expect.stringMatching(reason)]);
  });

  it('fails with a Sentinel version that is not installed', async () => {
    const folder = mkdtempSync(join(cache, 'path-'));
    writeFileSync(join(folder, 'sentinel'), '#!/bin/sh\necho "Sentinel v0.30.0"\n', { mode: 0o755 });
    const { PATH } = process.env;
    process.env.PATH = `${folder}:${PATH}`;
    const { findSentinel } = await import('#resources/policies/engine/find-engine.ts');
    const version = number();
    await api.post('admin/sentinel-versions', { version, url, sha });
    expect((await findSentinel('')).version).toBe('0.30.0');
    await expect(findSentinel(version)).rejects.toThrow(`Sentinel ${version} is not installed, but 0.30.0`);
    process.env.PATH = PATH;
  });
});
