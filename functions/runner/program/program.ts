import { Runner } from './runner.ts';
import { takeSettings } from './settings.ts';

/** Shortly before the host kills the runner (control.ts), with a moment to clean up. */
const lastMomentMs = 115_000;

/**
 * The program in the runner's container: performs the job of the claim in `STEPFORM_CLAIM` for the control plane at
 * `STEPFORM_URL`. A process may call it again after it resolved with 0 (infra/local/aws/ecs/runner-process.mjs).
 * @param begunMs start of the task, in the clock of performance.now(); default: start of the process
 * @returns the exit code: 0 if the work was reported, even if Terraform failed. For other codes the platform decides
 * how the run ends (lifecycle/runners/runner-stopped.ts); missed heartbeats reveal an exit without an event.
 */
export const runTask = async (begunMs = 0): Promise<number> => {
  const runner = new Runner(takeSettings(), begunMs);
  const cleanUp = async (): Promise<void> => {
    // Already loaded if there are processes to kill. No error may keep the runner from exiting, not even a missing
    // file.
    await import('./terraform/process.ts').then(({ killEverything }) => killEverything(), console.error);
    runner.close();
  };
  const giveUp = (): void => void cleanUp().finally(() => process.exit(1));
  let lastMoment: NodeJS.Timeout | undefined;
  const stop = (): void => {
    runner.stop();
    clearTimeout(lastMoment);
    lastMoment = setTimeout(() => {
      console.error('the runner was stopped and could not finish in time');
      giveUp();
    }, lastMomentMs).unref();
  };
  const onException = (error: unknown): void => {
    console.error(error);
    // A running apply is stopped as by the host: Terraform ends in order, and its state is stored.
    if (runner.isWorking) stop();
    else giveUp();
  };
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.on(signal, stop);
  process.on('uncaughtException', onException);
  try {
    return await runner.run();
  } finally {
    await cleanUp();
    clearTimeout(lastMoment);
    for (const signal of signals) process.off(signal, stop);
    process.off('uncaughtException', onException);
  }
};
