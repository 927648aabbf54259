import { inBatches } from '#platform/store/batches.ts';
import { type Due, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { eachName } from '#platform/store/name-index.ts';
import { create, put } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { assessmentHours } from '#run/health.ts';
import { type NameItem, namesOf } from './names.ts';

/**
 * Timer of a workspace with health assessments; other workspaces have none. The timer only triggers a check
 * (lifecycle/timers/assessments.ts).
 */
export type HealthTimer = Key & Due & { lookedAt: string };

/** Longer than a request: the timer is written before the setting. */
const firstLookSeconds = 60;

/** 1 write. */
export const startHealthTimer = async (workspaceId: string): Promise<void> => {
  await put({ ...keys.healthTimer(workspaceId), lookedAt: now(), ...dueIn(workspaceId, firstLookSeconds) });
};

/** A fixed fraction of the interval per workspace, which spreads the assessments of an organization. */
const shareOf = (workspaceId: string): number =>
  [...workspaceId].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 9973, 7) / 9973;

/** Starts missing timers of all workspaces, after the organization enabled assessments. Can be repeated. */
export const startHealthTimers = async (organization: string): Promise<void> => {
  for await (const names of eachName<NameItem>(namesOf(organization))) {
    await inBatches(names, ({ workspaceId: id }) => {
      const seconds = firstLookSeconds + Math.floor(shareOf(id) * assessmentHours * 3600);
      return create({ ...keys.healthTimer(id), lookedAt: now(), ...dueIn(id, seconds) });
    });
  }
};
