import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyChanges, changesBetween } from '#platform/formats/state-changes.ts';

const maxBytes = 10_000_000;

const stateOf = (keys: number[], value = 'x'): Buffer =>
  Buffer.from(
    JSON.stringify(
      {
        version: 4,
        serial: keys.length,
        resources: [
          {
            type: 'terraform_data',
            instances: [...keys]
              .sort((a, b) => a - b)
              .map((key) => ({ index_key: key, id: `${key}`.repeat(40), value })),
          },
        ],
      },
      undefined,
      2,
    ),
  );

const makes = (before: Buffer, after: Buffer): boolean =>
  applyChanges(before, changesBetween(before, after), maxBytes).equals(after);

it('a difference recreates the newer of any two contents', () => {
  const anyBytes = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  fc.assert(fc.property(anyBytes, anyBytes, makes));
});

it('a difference recreates the newer of any two states', () => {
  const states = fc.uniqueArray(fc.nat(60)).chain((keys) => fc.string().map((value) => stateOf(keys, value)));
  fc.assert(fc.property(states, states, makes));
});

it('a difference is only as large as the additions to a large state', () => {
  const keys = Array.from({ length: 3000 }, (_, n) => n);
  const [before, after] = [stateOf(keys.filter((key) => key % 500 !== 7)), stateOf(keys)];
  expect(makes(before, after)).toBe(true);
  expect(changesBetween(before, after).length).toBeLessThan(before.length / 200);
});

it.each([
  ['is not gzip', Buffer.from('[]')],
  ['is not JSON', gzipSync('[')],
  ['is no list', gzipSync('{}')],
  ['has other pieces', gzipSync('[[0, 1, 2]]')],
  ['has fractions', gzipSync('[[0, 0.5]]')],
  ['begins before the state', gzipSync('[[-1, 1]]')],
  ['reaches beyond the state', gzipSync('[[0, 100]]')],
])('applying changes rejects input that %s', (_, changes) => {
  expect(() => applyChanges(Buffer.from('state'), changes, maxBytes)).toThrow(/changes/);
});

it('applying changes rejects small input that expands without limit', () => {
  const before = Buffer.alloc(1000);
  const copies = gzipSync(JSON.stringify(Array.from({ length: 1000 }, () => [0, 1000])));
  expect(() => applyChanges(before, copies, 100_000)).toThrow('more than 100000 bytes');
  const zeros = gzipSync(JSON.stringify(['0'.repeat(10_000_000)]));
  expect(() => applyChanges(before, zeros, 100_000)).toThrow('cannot be read');
});
