import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { open, openCached, seal } from '#platform/store/secrets.ts';
import { anyCharacter } from '#test/support/any-character.ts';
import { startStorage } from '#test/support/storage.ts';

await startStorage();

const context = { workspace: 'ws-1', variable: 'var-1' };

it('a sealed value opens for the same record', () =>
  fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 200 }), async (value) => {
      expect(await open(await seal(value, context), context)).toBe(value);
    }),
    { numRuns: 20 },
  ));

it('sealing hides the value, and gives a different result each time', async () => {
  const one = Buffer.from(await seal('hunter2 hunter2', context));
  const two = Buffer.from(await seal('hunter2 hunter2', context));
  expect(one.includes('hunter2')).toBe(false);
  expect(one.equals(two)).toBe(false);
});

it("sealing accepts values larger than KMS's limit", async () => {
  const value = 'x'.repeat(256 * 1024);
  expect(await open(await seal(value, context), context)).toBe(value);
});

it('a sealed value does not open for another record', async () => {
  const sealed = await seal('value', context);
  await expect(open(sealed, { ...context, variable: 'var-2' })).rejects.toThrow('InvalidCiphertext');
});

it('a sealed value does not open for another record while it is cached', async () => {
  const sealed = await seal('value', context);
  expect([await openCached(sealed, context), await openCached(sealed, context)]).toEqual(['value', 'value']);
  await expect(openCached(sealed, { ...context, variable: 'var-2' })).rejects.toThrow('InvalidCiphertext');
});

it('ciphertext altered at any position is rejected', async () => {
  const sealed = await seal('value', context);
  for (const at of [0, 10, sealed.length - 20, sealed.length - 1]) {
    const altered = Uint8Array.from(sealed);
    altered[at] = (altered[at] as number) ^ 1;
    await expect(open(altered, context)).rejects.toThrow();
  }
});

it('a state on a runner’s disk can be decrypted with the platform’s key, for its own run only', async () => {
  const { newDataKey, openDataKey, keptStateContext } = await import('#platform/store/secrets.ts');
  const { readKeptState } = await import('#platform/formats/kept-state.ts');
  const { writeKeptState } = await import('#runner/program/kept-states.ts');
  const file = join(mkdtempSync(join(tmpdir(), 'kept-state-')), 'deep', 'run.tfstate.encrypted');
  try {
    await writeKeptState(file, Buffer.from('{"serial":7}'), 'run-1', await newDataKey(keptStateContext('run-1')));
    const keptState = readKeptState(readFileSync(file));
    expect(keptState.open(await openDataKey(keptState.sealed, keptStateContext(keptState.runId))).toString()).toBe(
      '{"serial":7}',
    );
    await expect(openDataKey(keptState.sealed, keptStateContext('run-2'))).rejects.toThrow();
  } finally {
    rmSync(dirname(dirname(file)), { recursive: true });
  }
});
