import { expect, it } from 'vitest';
import { lackOf } from './fuzz.ts';
import { fuzzShare } from './share.ts';

it('the platform handles all requests without internal errors, and stores nothing of rejected ones: fixed seed', () =>
  fuzzShare(1));

it('the fuzzer detects rejections without an explanation', () => {
  const body = (error: object) => JSON.stringify({ errors: [error] });
  const good = { status: '422', title: 't', detail: 'd', source: { pointer: '/data' } };
  expect(lackOf(422, body(good))).toBeUndefined();
  expect(lackOf(422, body({ ...good, source: undefined }))).toMatch(/field/);
  expect(lackOf(422, body({ ...good, detail: '' }))).toMatch(/detail/);
  expect(lackOf(404, body(good))).toMatch(/status/);
  expect(lackOf(404, '{}')).toMatch(/errors/);
  expect(lackOf(404, undefined)).toMatch(/document/);
});
