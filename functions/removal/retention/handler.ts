import { inBatches } from '#platform/store/batches.ts';
import { dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { eachName } from '#platform/store/name-index.ts';
import { create, get, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { type NameItem, namesOf } from '#resources/workspaces/names.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import type { DataRetention } from '#run/data-retention-record.ts';
import { deleteOlder, neededIn } from './delete-old.ts';
import { purgeWorkspace } from './purge-workspace.ts';
import type { Kind, RetentionTimer } from './records.ts';

/**
 * Applies data retention policies, and deletes workspaces whose recovery period is over. The sweep invokes it with
 * due timers. Every pass can be repeated.
 */

const daySeconds = 24 * 3600;
const soonSeconds = 60;
/** Content that was in use is checked again after this time. */
const againDays = 30;

/** Fails the write if a changed policy has replaced the timer meanwhile. */
const unchanged = ({ lookedAt }: RetentionTimer) => ({ condition: 'lookedAt = :seen', values: { ':seen': lookedAt } });

const daysOf = ({ stateDays, configurationDays, runDays }: DataRetention): [Kind, number | undefined][] => [
  ['states', stateDays],
  ['configurations', configurationDays],
  ['runs', runDays],
];

/** The workspace's policy, or its organization's. Content of an environment is deleted with the environment. */
const policyOf = async ({ dataRetention, organization, managedBy }: Workspace): Promise<DataRetention | undefined> => {
  if (managedBy) return undefined;
  const policy = dataRetention ?? (await getOrganization(organization))?.dataRetention;
  return policy?.keeps ? undefined : policy;
};

const isOutdated = ({ since }: RetentionTimer): boolean =>
  since === undefined || Date.now() - Date.parse(since) > againDays * daySeconds * 1000;

const lookAtWorkspace = async (timer: RetentionTimer, id: string): Promise<void> => {
  const key = { pk: timer.pk, sk: timer.sk };
  const workspace = await getWorkspace(id);
  const policy = workspace && (await policyOf(workspace));
  if (!workspace || !policy) return void (await remove(key, unchanged(timer)));
  const again = isOutdated(timer);
  const places = again ? {} : { ...timer.places };
  const needed = await neededIn(workspace);
  let isUnfinished = false;
  for (const [kind, days] of daysOf(policy)) {
    if (days === undefined) continue;
    const progress = await deleteOlder(workspace, kind, { days, places: places[kind] ?? {}, needed });
    places[kind] = progress.places;
    isUnfinished ||= progress.more;
  }
  const since = again ? now() : timer.since;
  const set = { lookedAt: now(), places, since, ...dueIn(id, isUnfinished ? soonSeconds : daySeconds) };
  await update(key, { set, ...unchanged(timer) });
};

/** Starts a timer for each workspace that has none. Removes the organization's timer if no policy deletes content. */
const lookAtOrganization = async (timer: RetentionTimer, name: string): Promise<void> => {
  const key = { pk: timer.pk, sk: timer.sk };
  const policy = (await getOrganization(name))?.dataRetention;
  if (!policy || policy.keeps) return void (await remove(key, unchanged(timer)));
  for await (const names of eachName<NameItem>(namesOf(name))) {
    await inBatches(names, ({ workspaceId: id }) =>
      create({ ...keys.workspaceRetention(id), lookedAt: now(), ...dueIn(id, soonSeconds) }),
    );
  }
  await update(key, { set: { lookedAt: now(), ...dueIn(name, daySeconds) }, ...unchanged(timer) });
};

export const handler = async ({ due }: { due: Key[] }): Promise<void> => {
  for (const key of due) {
    try {
      if (key.sk === 'WS') {
        await purgeWorkspace(key.pk.replace('WS#', ''));
        continue;
      }
      const timer = await get<RetentionTimer>(key);
      if (!timer) continue;
      if (key.pk.startsWith('ORG#')) await lookAtOrganization(timer, key.pk.replace('ORG#', ''));
      else await lookAtWorkspace(timer, key.pk.replace('WS#', ''));
    } catch (error) {
      logError('data retention failed', error, { item: key.pk });
    }
  }
};
