import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, it } from 'vitest';
import { runBounded } from '#resources/policies/engine/child.ts';
import { findRoom, mountPoint } from '#resources/policies/engine/room.ts';
import { serve } from '#test/support/serve.ts';

const separates = process.platform === 'linux' && process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'room-test-'));
const secret = `${folder}.json`;
let asked = 0;
const listener = await serve((_, response) => {
  asked++;
  response.end('{}');
});
writeFileSync(join(folder, mountPoint), '');
writeFileSync(secret, '{"type": "string"}');
afterAll(() => {
  for (const path of [folder, secret]) rmSync(path, { recursive: true });
});

const limits = { seconds: 20, memoryMiB: 512, outputBytes: 100_000 };
/** With all of OPA's functions. */
const evaluate = async (query: string) => {
  const room = await findRoom(async () => separates);
  const parameters = ['eval', '--format', 'json', '--show-builtin-errors', '--', query];
  return (await runBounded(...room(inject('opa'), parameters), folder, limits)).stdout;
};

it.runIf(separates)('the engine has no network', async () => {
  const url = `${listener.url}/`;
  expect(await evaluate(`http.send({"method": "get", "url": "${url}"})`)).toMatch(/unreachable|refused/);
  expect(await evaluate(`json.verify_schema({"$ref": "${url}"})`)).toMatch(/unreachable|refused/);
  expect(asked).toBe(0);
});

it.runIf(separates)('the engine sees no file but those of its folder', async () => {
  const read = (path: string) => evaluate(`json.verify_schema({"$ref": "file://${path}"})`);
  for (const path of [secret, '/etc/passwd', '/proc/self/environ', `${folder}/${mountPoint}`])
    expect(await read(path)).toContain('no such file or directory');
});

it('the engine runs without namespaces where it cannot start in them', async () => {
  const room = await findRoom(async () => false);
  expect(room('opa', ['version'])).toEqual(['opa', ['version']]);
});
