import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { evaluate } from '#infra/local/aws/lambda/evaluate.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'evaluate-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const head = '(function(){';
const evaluated = (body: string, compiled?: string): unknown => {
  let value: unknown;
  const code = `${head}${body}\n})`;
  evaluate({ file: '/bundle/index.js', code, columnOffset: -head.length, compiled }, (use) => {
    value = use();
  });
  return value;
};

it('compiled code is cached for the same source', () => {
  const compiled = join(folder, 'deep', 'one');
  expect(evaluated('return 1', compiled)).toBe(1);
  const written = statSync(compiled).ino;
  expect(evaluated('return 1', compiled)).toBe(1);
  expect(statSync(compiled).ino).toBe(written);
  expect(readdirSync(join(folder, 'deep'))).toEqual(['one']);
});

it('compiled code of another source of the same length is never used', () => {
  const compiled = join(folder, 'one');
  expect(evaluated('return 1', compiled)).toBe(1);
  const former = readFileSync(compiled);
  expect(evaluated('return 2', compiled)).toBe(2);
  expect(readFileSync(compiled).equals(former)).toBe(false);
});

it('a damaged entry is recompiled', () => {
  const compiled = join(folder, 'one');
  evaluated('return 1', compiled);
  const kept = readFileSync(compiled);
  writeFileSync(compiled, kept.subarray(0, 60));
  expect(evaluated('return 1', compiled)).toBe(1);
  expect(readFileSync(compiled).length).toBe(kept.length);
});

it('evaluation works without a writable cache', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(evaluated('return 1', join(folder, 'file', 'below'))).toBe(1);
  expect(evaluated('return 1')).toBe(1);
});

it('positions in stack traces stay correct', () => {
  const at = /index\.js:1:(\d+)/;
  const plain = at.exec(String(evaluated('return new Error("x").stack')))?.[1];
  const kept = at.exec(String(evaluated('return new Error("x").stack', join(folder, 'one'))))?.[1];
  expect([plain, kept]).toEqual(['8', '8']);
});
