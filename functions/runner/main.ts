import { Runner } from './runner.ts';
import { takeSettings } from './settings.ts';

/**
 * The program in the runner's container: does one piece of work for the control plane at `STEPFORM_URL` that the claim
 * in `STEPFORM_CLAIM` names. Exit code 0 also when Terraform has failed; that is in the report. With any other the platform
 * looks what its end means for the run (orchestration/runner-stopped.ts); an end that it does not learn of shows in missed
 * heartbeats.
 */

/** Before the host's own end (control.ts), with a moment to clean up. */
const lastMomentMs = 115_000;

const main = async (): Promise<void> => {
  const runner = new Runner(takeSettings());
  const end = async (code: number): Promise<never> => {
    // Loaded already if there is anything to kill. Nothing keeps a runner from ending, a missing file neither.
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
  process.on('uncaughtException', (error) => {
    console.error(error);
    void end(1);
  });
  await end(await runner.run());
};

void main();
