import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

/** Runs around every test file: records which mutants' places it has executed (`marked` in mutants.ts), for run.ts. */

const { STEPFORM_COVERED_MUTANTS: list } = process.env;
const executed = new Set<number>();
Object.assign(globalThis, { __vitest_executed: executed });

afterAll(() => {
  if (!list) return;
  appendFileSync(list, `${JSON.stringify({ test: expect.getState().testPath, mutants: [...executed] })}\n`);
});
