import { TestRunner, vi } from 'vitest';
import { rememberProcess } from './process-state.ts';
import { undoAll } from './undo.ts';

/**
 * Runs each file with its own modules, environment and working directory, in a process that files share (ADR 166 has
 * the cost of a process for each).
 */
export default class FileTestRunner extends TestRunner {
  #restore = (): void => {};

  onBeforeCollect(): void {
    this.#restore = rememberProcess();
    vi.resetModules();
  }

  override async onAfterRunFiles(files: Parameters<TestRunner['onAfterRunFiles']>[0]): Promise<void> {
    super.onAfterRunFiles(files);
    vi.useRealTimers();
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    await undoAll();
    this.#restore();
  }
}
