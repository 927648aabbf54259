import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { definition } from '#infra/stack/lifecycle.ts';
import { objects } from '#platform/store/keys.ts';
import type { StateVersion } from '#resources/states/state-version.ts';
import { artifacts } from '#run/phase-report.ts';
import { artifactUrls, laterUrls, leftStateUrl, stateUploadUrl } from '#runner/api/addresses.ts';
import { newRun } from '#test/support/run.ts';
import { type Storage, startStorage } from '#test/support/storage.ts';

let storage: Storage;
beforeAll(async () => {
  storage = await startStorage();
});
afterAll(() => storage.close());

const run = newRun();
const content = '{"serial":1}';
const digest = (text: string, encoding: 'hex' | 'base64') => createHash('sha256').update(text).digest(encoding);
const stateVersion = { id: 'sv-1', workspaceId: run.workspaceId, runId: run.id, sha256: digest(content, 'hex') };
const put = (url: string, body: string, sha256?: string): Promise<number> =>
  fetch(url, { method: 'PUT', body, headers: sha256 ? { 'x-amz-checksum-sha256': sha256 } : {} }).then(
    ({ status }) => status,
  );
const base64 = (text: string) => digest(text, 'base64');
const lifeOf = (url: string) => Number(new URL(url).searchParams.get('X-Amz-Expires'));
const keyOf = (url: string) => new URL(url).pathname.split('/').slice(2).join('/');

it('a state version accepts only the announced content, repeatedly', async () => {
  const url = await stateUploadUrl(stateVersion as StateVersion);
  expect(await put(url, content, base64(content))).toBe(200);
  expect(await put(url, 'another', base64('another'))).toBe(403);
  expect(await put(url, 'another')).toBe(403);
  expect(await put(url, 'another', base64(content))).toBe(400);
  expect(await put(url, content, base64(content))).toBe(200);
});

it("no URL outlives its runner's heartbeat timeout, except harmless ones", async () => {
  const names = new Proxy({}, { get: (_, name) => name }) as Parameters<typeof definition>[0];
  const states = definition(names).States as unknown as Record<string, { HeartbeatSeconds: number }>;
  const silence = Math.min(...['Planning', 'Applying'].map((name) => states[name]?.HeartbeatSeconds ?? 0));
  const short = [
    await stateUploadUrl(stateVersion as StateVersion),
    ...Object.values(await artifactUrls(run.id, 'plan', [...artifacts])),
    // URLs in the job.
    ...Object.values(await artifactUrls(run.id, 'apply')),
  ];
  for (const url of short) expect(lifeOf(url), url).toBeLessThanOrEqual(silence);
  // The runner's upload is copied once the runner has stopped; users read only the copy, under another key.
  expect(keyOf(await leftStateUrl(run))).not.toBe(objects.erroredState(run.workspaceId, run.id));
  // Issued only after a report.
  expect(Object.keys(await laterUrls(run, 'plan', undefined))).toEqual(['provider-schemas']);
  expect(await laterUrls(run, 'apply', undefined)).toEqual({});
  const later = await laterUrls(run, 'apply', stateVersion as StateVersion);
  expect(keyOf(later['state-json'] as string)).toBe('uploads/sv-1.json');
});

it('an artifact is accepted once', async () => {
  const once = { 'if-none-match': '*' };
  const url = async () => (await artifactUrls(run.id, 'plan'))['plan-json'] as string;
  const [first, second] = [await url(), await url()];
  const store = (url: string, headers: Record<string, string> = once) =>
    fetch(url, { method: 'PUT', body: 'plan', headers }).then(({ status }) => status);
  expect(await store(first, {})).toBe(403);
  expect([await store(first), await store(first), await store(second)]).toEqual([200, 412, 412]);
});
