import { Runner } from './runner.ts';
import { takeSettings } from './settings.ts';

/** Before the host's own end (control.ts), with a moment to clean up. */
const lastMomentMs = 115_000;

/**
 * The program in the runner's container: does one job for the control plane at `STEPFORM_URL`, which the claim in
 * `STEPFORM_CLAIM` names. A process may call it again once it has resolved with 0 (infra/local/aws/ecs/runner-process.mjs).
 * @param begunMs when the task began, as performance.now() has it: with the process unless given
 * @returns the exit code: 0 when the work is done, even if Terraform has failed: the report says so. After any other one the
 * platform decides what it means for the run (lifecycle/runners/runner-stopped.ts); missed heartbeats reveal an exit that it never
 * learns of.
 */
export const runTask = async (begunMs = 0): Promise<number> => {
  const runner = new Runner(takeSettings(), begunMs);
  const cleanUp = async (): Promise<void> => {
    // Loaded already if there is anything to kill. Nothing may keep a runner from exiting, not even a missing file.
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
    // An apply at work is stopped like by the host: Terraform ends in order, and its state is stored.
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
