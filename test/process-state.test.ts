import { tmpdir } from 'node:os';
import { expect, it, vi } from 'vitest';
import { rememberProcess } from '#test/support/process-state.ts';

/** State that a test file leaves for the next one in the same process. */

it('environment and working directory are restored', () => {
  const folder = process.cwd();
  process.env.STEPFORM_TEST_KEPT = 'before';
  const restore = rememberProcess();
  process.env.STEPFORM_TEST_KEPT = 'after';
  process.env.STEPFORM_TEST_ADDED = 'x';
  process.chdir(tmpdir());
  restore();
  expect(process.env.STEPFORM_TEST_KEPT).toBe('before');
  expect(process.env).not.toHaveProperty('STEPFORM_TEST_ADDED');
  expect(process.cwd()).toBe(folder);
});

it('a global that stays replaced is refused, a restored one is accepted', () => {
  const restore = rememberProcess();
  vi.stubGlobal('fetch', () => {});
  vi.stubGlobal('structuredClone', () => {});
  expect(restore).toThrow('structuredClone');
  vi.unstubAllGlobals();
  expect(restore).not.toThrow();
});

it('a replaced process.env is rejected, and the original is restored', () => {
  const real = process.env;
  const restore = rememberProcess();
  process.env = { ...real };
  expect(restore).toThrow('process.env');
  expect(process.env).toBe(real);
  expect(restore).not.toThrow();
});
