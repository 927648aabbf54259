import type { Runner } from '../../../infra/local/orphaned-runners.ts';
import { signal } from '../../../infra/local/processes.ts';

export { type Runner, runnersOf as runners } from '../../../infra/local/orphaned-runners.ts';

export const send = ({ process }: Runner, name: NodeJS.Signals, whole: 'process' | 'group' = 'group'): void =>
  signal(process, name, whole);
