import type { CaughtError } from './ending.ts';
import type { Run } from './run.ts';

/** Message of a run while its unresponsive runner is being stopped; undefined in other cases. Pure. */
export const stoppingReason = (run: Run, error: CaughtError | undefined): string | undefined => {
  if (error?.Error !== 'States.HeartbeatTimeout') return undefined;
  const doing = run.apply.status === 'pending' ? 'plan' : 'apply';
  return `The runner stopped answering during the ${doing}. It is being stopped, which takes up to two minutes; then the run ends.`;
};
