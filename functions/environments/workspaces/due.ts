import { dueAttributes, dueIn } from '../../store/due.ts';
import { update } from '../../store/table.ts';
import type { Build } from '../builds/records.ts';
import { keys } from '../keys.ts';
import type { Template } from '../templates/records.ts';
import type { Environment } from './records.ts';
import { nextStart } from './schedule.ts';

/** When the sweep has to look at an environment: its one next start or stop. */

/** In ms since 1970; undefined while nothing is scheduled. */
export const nextDue = (environment: Environment, template: Template, latest: Build): number | undefined => {
  if (environment.dormantAt || environment.deletedAt || latest.error) return undefined;
  if (latest.transition === 'start') return latest.deadline ? Date.parse(latest.deadline) : undefined;
  // From the last build on, so that one that was missed is made up for.
  return latest.transition === 'stop' ? nextStart(environment, template, Date.parse(latest.createdAt)) : undefined;
};

/** What a write of the environment sets and removes for it. */
export const dueChange = (id: string, at: number | undefined): { set: Record<string, unknown>; remove: string[] } =>
  at === undefined
    ? { set: {}, remove: dueAttributes }
    : { set: dueIn(id, Math.max(0, (at - Date.now()) / 1000)), remove: [] };

/** After something that the next start or stop depends on has changed. While a build goes on, its end does the same. 1 write. */
export const reschedule = async (environment: Environment, template: Template, latest: Build): Promise<void> => {
  const { set, remove } = dueChange(environment.id, nextDue(environment, template, latest));
  await update(keys.environment(environment.id), {
    set: { ...set, scheduledAt: new Date().toISOString() },
    remove,
    condition: 'attribute_exists(pk) AND attribute_not_exists(activeBuildId) AND attribute_not_exists(deletedAt)',
  });
};
