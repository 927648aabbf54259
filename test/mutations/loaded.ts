import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

/** Around every file of tests: notes which modules it has loaded, for run.ts. */

interface Worker {
  evaluatedModules: { idToModuleMap: Map<string, { file: string; evaluated: boolean }> };
}

const { STEPFORM_LOADED_MODULES: list } = process.env;

afterAll(() => {
  if (!list) return;
  const { evaluatedModules } = (globalThis as unknown as { __vitest_worker__: Worker }).__vitest_worker__;
  const loaded = [...evaluatedModules.idToModuleMap.values()].filter(({ evaluated }) => evaluated);
  const test = expect.getState().testPath;
  appendFileSync(list, `${JSON.stringify({ test, files: loaded.map(({ file }) => file) })}\n`);
});
