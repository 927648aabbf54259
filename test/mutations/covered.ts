import { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

/**
 * Runs around every test file: records which mutants' places it has executed (`marked` in mutants.ts), for run.ts, and
 * lets the programs that it starts do the same.
 */

const { STEPFORM_COVERED_MUTANTS: list = '', STEPFORM_MUTATED: sources = '' } = process.env;
const testHere = (): string => expect.getState().testPath ?? '';
const executed = new Set<number>();
Object.assign(globalThis, { __vitest_executed: executed });

afterAll(() => {
  if (list) appendFileSync(list, `${JSON.stringify({ test: testHere(), mutants: [...executed] })}\n`);
});

const option = `NODE_OPTIONS=--import=${new URL('program.ts', import.meta.url)}`;
/** Node's own method, which all asynchronous ways to start a program share. */
const prototype = ChildProcess.prototype as unknown as { spawn(options: { envPairs?: string[] }): number };
const { spawn } = prototype;
prototype.spawn = function (options) {
  // Files share a process: the method may already be replaced.
  if (options.envPairs && !options.envPairs.some((pair) => pair.startsWith(option)))
    options.envPairs.push(`${option}?${new URLSearchParams({ sources, list, test: testHere() })}`);
  return spawn.call(this, options);
};
