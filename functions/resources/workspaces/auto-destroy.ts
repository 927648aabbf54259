import { type Due, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { put } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { AutoDestroyProgress, AutoDestroySettings } from '#run/auto-destroy.ts';

/**
 * The one timer of a workspace that is destroyed by itself; workspaces without such a setting have none. It says when to look,
 * not what to do: whoever looks goes by what the workspace says then (lifecycle/timers/auto-destroy.ts).
 */
export type AutoDestroyTimer = Key & Due & AutoDestroyProgress;

/** Longer than a request takes: the timer is there before the setting, and must not be looked at before that. */
const firstLookSeconds = 60;

/** Starts the timer anew, whatever came of it before. 1 write, where the settings say a time or a duration. */
export const startAutoDestroyTimer = async (workspaceId: string, settings: AutoDestroySettings): Promise<void> => {
  if (!settings.autoDestroyAt && !settings.autoDestroyActivityDuration) return;
  const timer = { lookedAt: now(), ...dueIn(workspaceId, firstLookSeconds) };
  await put({ ...keys.autoDestroy(workspaceId), ...timer });
};
