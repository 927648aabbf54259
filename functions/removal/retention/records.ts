import { type Due, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { put, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { DataRetention } from '#run/data-retention-record.ts';

/**
 * The one timer of a workspace, or organization, with a data retention policy; others have none. It says when to look, not
 * what to do, and how far the last look came.
 */
export type RetentionTimer = Key &
  Due & {
    lookedAt: string;
    /** Since when the places count: what was spared is looked at again after a month. */
    since?: string;
    places?: Partial<Record<Kind, Places>>;
  };

/** Sort keys up to which everything is deleted, or gone for good, that is to go. */
export interface Places {
  deleted?: string;
  purged?: string;
}

export type Kind = 'states' | 'configurations' | 'runs';

export type Target = { workspace: string } | { organization: string };

export const timerKey = (target: Target): Key =>
  'workspace' in target ? keys.workspaceRetention(target.workspace) : keys.organizationRetention(target.organization);

/** Longer than a request takes: the timer is there before the policy. */
const firstLookSeconds = 60;

/** Null takes it away; the timer ends with its next look. 1 or 2 writes. False when what it is of is gone. */
export const setDataRetention = async (target: Target, dataRetention: DataRetention | null): Promise<boolean> => {
  const [key, id] =
    'workspace' in target
      ? [keys.workspace(target.workspace), target.workspace]
      : [keys.organization(target.organization), target.organization];
  if (dataRetention && !dataRetention.keeps) {
    await put({ ...timerKey(target), lookedAt: now(), ...dueIn(id, firstLookSeconds) });
  }
  const updated = await update(key, {
    ...(dataRetention ? { set: { dataRetention } } : { remove: ['dataRetention'] }),
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
  return updated !== undefined;
};
