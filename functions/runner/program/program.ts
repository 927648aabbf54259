import { Runner } from './runner.ts';
import { takeSettings } from './settings.ts';

/** Before the host's own end (control.ts), with a moment to clean up. */
const lastMomentMs = 115_000;

/**
 * The program in the runner's container: does one job for the control plane at `STEPFORM_URL`, which the claim in
 * `STEPFORM_CLAIM` names. Its exit code is 0 even if Terraform has failed: the report says so. After any other exit
 * code the platform decides what it means for the run (lifecycle/runners/runner-stopped.ts); missed heartbeats reveal an
 * exit that it never learns of.
 * @param onSuccess called when a run's work is done, before the process exits
 */
export const runTask = async (onSuccess?: () => void): Promise<void> => {
  const runner = new Runner(takeSettings());
  const end = async (code: number): Promise<never> => {
    // Loaded already if there is anything to kill. Nothing may keep a runner from exiting, not even a missing file.
    await import('./terraform/process.ts').then(({ killEverything }) => killEverything(), console.error);
    runner.close();
    process.exit(code);
  };
  const stop = (): void => {
    runner.stop();
    setTimeout(() => {
      console.error('the runner was stopped and could not finish in time');
      void end(1);
    }, lastMomentMs).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // A full disk that takes no more of the runner's own log.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', (error) => {
    console.error(error);
    // An apply at work is stopped like by the host: Terraform ends in order, and its state is stored.
    if (runner.isWorking) stop();
    else void end(1);
  });
  const code = await runner.run();
  if (code === 0 && runner.hasWorked) onSuccess?.();
  await end(code);
};
