import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { updateRecord } from '#platform/store/records.ts';
import type { Build } from '../builds/records.ts';
import { keys } from '../keys.ts';
import type { Template } from '../templates/records.ts';
import type { Environment } from './records.ts';
import { deletingAt, nextStart } from './schedule.ts';

/** Scheduled actions on an environment, and the time of its next check by the sweep. */

export type Action = 'restart' | 'autostop' | 'autostart' | 'stop after failure' | 'dormancy' | 'delete';

export interface Due {
  action: Action;
  /** In ms since 1970. */
  at: number;
}

const dayMs = 24 * 3_600_000;

const hasFailed = ({ error }: Build): boolean => error !== undefined && error !== '';

const when = (action: Action, at: number | undefined): Due[] => (at === undefined ? [] : [{ action, at }]);

/** A failed deletion is retried a day later. */
const deletion = (environment: Environment, template: Template, latest: Build): number | undefined => {
  const at = deletingAt(environment, template);
  if (at === undefined || latest.transition !== 'delete') return at;
  return Math.max(at, Date.parse(latest.completedAt ?? latest.createdAt) + dayMs);
};

/** All pending actions with their times. If several are due, the first one is carried out. Pure. */
export const dueActions = (environment: Environment, template: Template, latest: Build): Due[] => {
  if (environment.deletedAt || environment.prebuild) return [];
  if (environment.dormantAt) return when('delete', deletion(environment, template, latest));
  const { transition, deadline, createdAt, completedAt = createdAt } = latest;
  const failed = hasFailed(latest);
  const { failureTtlMs, timeTilDormantMs } = template;
  const stop = !failed && transition === 'start' && deadline ? Date.parse(deadline) : undefined;
  const isStopped = !failed && !latest.canceledAt && transition === 'stop';
  const restart = isStopped && latest.restart && completedAt ? Date.parse(completedAt) : undefined;
  // The first scheduled start after the last build: a missed start is due at once.
  const start = !failed && transition === 'stop' ? nextStart(environment, template, Date.parse(createdAt)) : undefined;
  const mend = failed && transition === 'start' && failureTtlMs ? Date.parse(completedAt) + failureTtlMs : undefined;
  const sleep = timeTilDormantMs ? Date.parse(environment.lastUsedAt) + timeTilDormantMs : undefined;
  return [
    ...when('restart', restart),
    ...when('autostop', stop),
    ...when('autostart', start),
    ...when('stop after failure', mend),
    ...when('dormancy', sleep),
  ];
};

/** In ms since 1970; undefined when nothing is scheduled. */
export const nextDue = (environment: Environment, template: Template, latest: Build): number | undefined => {
  const times = dueActions(environment, template, latest).map(({ at }) => at);
  return times.length ? Math.min(...times) : undefined;
};

/** The part of a write that sets or removes the due time. */
export const dueChange = (id: string, at: number | undefined): { set: Record<string, unknown>; remove: string[] } =>
  at === undefined ? { set: {}, remove: dueAttributes } : { set: dueIn(id, (at - Date.now()) / 1000), remove: [] };

const isFree = 'attribute_not_exists(activeBuildId)';

/** Called after a change that affects the next action. The end of a build does the same. 1 write. */
export const reschedule = async (
  environment: Environment,
  template: Template,
  latest: Build,
  at = nextDue(environment, template, latest),
): Promise<void> => {
  const { set, remove } = dueChange(environment.id, at);
  await updateRecord(keys.environment(environment.id), {
    set: { ...set, scheduledAt: new Date().toISOString() },
    remove,
    condition: isFree,
  });
};

/** Postpones an environment that cannot be built now, so that others come first. 1 write. */
export const postpone = async (id: string, seconds: number): Promise<void> => {
  await updateRecord(keys.environment(id), { set: dueIn(id, seconds), condition: isFree });
};
