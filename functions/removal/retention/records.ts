import { type Due, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { put } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { DataRetention } from '#run/data-retention-record.ts';

/**
 * Timer of a workspace or organization with a data retention policy; others have none. The timer only triggers a
 * pass, and stores the progress of the last one.
 */
export type RetentionTimer = Key &
  Due & {
    lookedAt: string;
    /** Start of the current progress: content that was in use is checked again after a month. */
    since?: string;
    places?: Partial<Record<Kind, Places>>;
  };

/** Sort keys up to which all expired content is soft-deleted, and purged. */
export interface Places {
  deleted?: string;
  purged?: string;
}

export type Kind = 'states' | 'configurations' | 'runs';

export type Target = { workspace: string } | { organization: string };

export const timerKey = (target: Target): Key =>
  'workspace' in target ? keys.workspaceRetention(target.workspace) : keys.organizationRetention(target.organization);

/** Longer than a request: the timer is written before the policy. */
const firstLookSeconds = 60;

/**
 * Null removes the policy; its timer ends with the next pass. 1 or 2 writes. False when the workspace or organization
 * is deleted.
 */
export const setDataRetention = async (target: Target, dataRetention: DataRetention | null): Promise<boolean> => {
  const [key, id] =
    'workspace' in target
      ? [keys.workspace(target.workspace), target.workspace]
      : [keys.organization(target.organization), target.organization];
  if (dataRetention && !dataRetention.keeps) {
    await put({ ...timerKey(target), lookedAt: now(), ...dueIn(id, firstLookSeconds) });
  }
  const updated = await updateRecord(key, {
    ...(dataRetention ? { set: { dataRetention } } : { remove: ['dataRetention'] }),
  });
  return updated !== undefined;
};
