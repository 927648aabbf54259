import type { CaughtError } from './ending.ts';
import type { Run } from './run.ts';

/**
 * What a run says while a runner that stopped answering gets its time to stop; undefined where the status says it all. Pure.
 */
export const stoppingReason = (run: Run, error: CaughtError | undefined): string | undefined => {
  if (error?.Error !== 'States.HeartbeatTimeout') return undefined;
  const doing = run.apply.status === 'pending' ? 'plan' : 'apply';
  return `The runner stopped answering during the ${doing}. It is being stopped, which takes up to two minutes; then the run ends.`;
};
