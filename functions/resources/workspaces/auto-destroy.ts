import { type Due, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { put } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { AutoDestroyProgress, AutoDestroySettings } from '#run/auto-destroy.ts';

/**
 * Timer of a workspace with automatic destruction; other workspaces have none. The timer only triggers a check, which
 * reads the current settings from the workspace (lifecycle/timers/auto-destroy.ts).
 */
export type AutoDestroyTimer = Key & Due & AutoDestroyProgress;

/** Longer than a request: the timer is written before the setting, and must not fire in between. */
const firstLookSeconds = 60;

/** Restarts the timer and drops its former progress. 1 write if the settings contain a time or a duration. */
export const startAutoDestroyTimer = async (workspaceId: string, settings: AutoDestroySettings): Promise<void> => {
  if (!settings.autoDestroyAt && !settings.autoDestroyActivityDuration) return;
  const timer = { lookedAt: now(), ...dueIn(workspaceId, firstLookSeconds) };
  await put({ ...keys.autoDestroy(workspaceId), ...timer });
};
