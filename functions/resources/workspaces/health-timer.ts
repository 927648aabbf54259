import { inBatches } from '#platform/store/batches.ts';
import { type Due, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { eachName } from '#platform/store/name-index.ts';
import { create, put } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { assessmentHours } from '#run/health.ts';
import { type NameItem, namesOf } from './names.ts';

/**
 * The one timer of a workspace whose health is assessed; other workspaces have none. It says when to look, not what to do
 * (lifecycle/timers/assessments.ts).
 */
export type HealthTimer = Key & Due & { lookedAt: string };

/** Longer than a request takes: the timer is there before the setting. */
const firstLookSeconds = 60;

/** 1 write. */
export const startHealthTimer = async (workspaceId: string): Promise<void> => {
  await put({ ...keys.healthTimer(workspaceId), lookedAt: now(), ...dueIn(workspaceId, firstLookSeconds) });
};

/** The same share of the interval for the same id, each time: not all of an organization are assessed at once. */
const shareOf = (workspaceId: string): number =>
  [...workspaceId].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 9973, 7) / 9973;

const atOnce = 20;

/** Of all workspaces that have none: the organization has its workspaces assessed. May be repeated. */
export const startHealthTimers = async (organization: string): Promise<void> => {
  for await (const names of eachName<NameItem>(namesOf(organization))) {
    await inBatches(names, atOnce, ({ workspaceId: id }) => {
      const seconds = firstLookSeconds + Math.floor(shareOf(id) * assessmentHours * 3600);
      return create({ ...keys.healthTimer(id), lookedAt: now(), ...dueIn(id, seconds) });
    });
  }
};
