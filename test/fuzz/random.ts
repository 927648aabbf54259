import fc from 'fast-check';
import { anyCharacter } from '#test/support/any-character.ts';

/** All choices of one request, so that a seed and a number reproduce it. */
export class Random {
  #state: number;

  constructor(seed: number, n = 0) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b)) >>> 0;
  }

  /** From 0, below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** One of fast-check's values. */
  sample<T>(arbitrary: fc.Arbitrary<T>): T {
    return fc.sample(arbitrary, { seed: this.below(2 ** 31), numRuns: 1 })[0] as T;
  }
}

const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value };
  return value;
};

/** Troublesome text: in keys, numbers, times, patterns, templates and encodings. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\n',
  '..',
  '../../etc/passwd',
  'a/b',
  'a#b',
  '#',
  '*',
  '%',
  '%00',
  '%E0%A4%A',
  '[',
  '(((((',
  '{{base}}',
  '$(a)',
  '\ud800',
  'a\udfff',
  '\ufeff',
  '\u202eabc',
  'é',
  '🦄',
  '👨‍👩‍👧',
  'İstanbul',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '-0',
  '-1',
  '1e400',
  '1e21',
  '99999999999999999999',
  '0x10',
  '1,2,3',
  ',',
  ',,,,',
  '2026-02-30T25:61:61Z',
  '+275760-09-13T00:00:00.001Z',
  '9999-12-31T23:59:59.999Z',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'x'.repeat(101),
  'x'.repeat(1025),
  'x'.repeat(3000),
  'é'.repeat(700),
  '*a'.repeat(200),
  'a,'.repeat(500),
];

/** Only in bodies: as long as a whole item may be, and longer. */
const hugeTexts = ['x'.repeat(70_000), 'x'.repeat(300_000), '\u0001'.repeat(300_000), 'é'.repeat(220_000)];

const numbers = [0, -0, 1, -1, 0.5, 1e21, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e308, -1e308, 5e-324];

const anyValue = fc.jsonValue({ maxDepth: 3, stringUnit: anyCharacter });

/** Any JSON value. */
export const anyJson = (random: Random): unknown => {
  const kind = random.below(20);
  if (kind < 5) return random.sample(anyValue);
  if (kind < 11) return random.of(hostileTexts);
  if (kind < 13) return random.of(numbers);
  if (kind < 15) return random.of([null, true, false, {}, [], [null], [[]], { id: null }]);
  if (kind === 15) return deep(random.of([5, 30, 31, 33, 200]));
  if (kind === 16)
    return Array.from({ length: random.of([2, 51, 101, 501, 999, 1001]) }, () => random.of(hostileTexts));
  if (kind === 17) return random.chance(0.2) ? random.of(hugeTexts) : random.of(hostileTexts);
  if (kind === 18) return Object.fromEntries(hostileTexts.slice(0, 60).map((text, i) => [text, i]));
  return { type: random.of(['workspaces', 'projects', 'x', null, 1]), id: random.of(hostileTexts) };
};

/** Bodies that are not documents. */
export const hostileBody = (random: Random): string =>
  random.of([
    '',
    ' ',
    'null',
    'true',
    '17',
    '-0',
    '1e400',
    '"text"',
    '[]',
    '{}',
    '{"data":null}',
    '{"data":[]}',
    '{"data":[null]}',
    '{"data":{}}',
    '{"data":{"attributes":null}}',
    '{"data":{"attributes":[]}}',
    '{"data":{"attributes":{},"relationships":null}}',
    '{"data":{"attributes":{},"relationships":[]}}',
    '{"data":{"attributes":{"name":1e400,"name":"b"}}}',
    '{"__proto__":{"data":{}},"data":{"__proto__":{"attributes":{}}}}',
    '{"data":{"attributes":{"__proto__":{"name":"x"},"constructor":{"prototype":{}}}}}',
    '{"data":{"attributes":{"name":"\\ud800"}}}',
    '{"data":{"id":{"$ne":null},"type":[]}}',
    '{"data":',
    '\u0000{}',
    '\ufeff{"data":{}}',
    '[['.repeat(50_000),
    `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
    `{"data":[${Array(1001).fill('{"type":"workspaces","id":"ws-x"}').join()}]}`,
    'name=x&type=workspaces',
    '<xml/>',
  ]);
