import type { Runner } from '#infra/local/aws/ecs/orphaned-runners.ts';
import { signal } from '#infra/local/host/processes.ts';

export { type Runner, runnersOf as runners } from '#infra/local/aws/ecs/orphaned-runners.ts';

export const send = ({ process }: Runner, name: NodeJS.Signals, whole: 'process' | 'group' = 'group'): void =>
  signal(process, name, whole);
