import { inject, type RunnerTask, type RunnerTestFile, TestRunner } from 'vitest';

const skip = (task: RunnerTask): void => {
  task.mode = 'skip';
  if ('tasks' in task) task.tasks.forEach(skip);
};

/** Skips whole files, what they prepare included, where there is no browser. */
export default class BrowserTestRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    if (typeof inject('browser') === 'string') files.forEach(skip);
  }
}
