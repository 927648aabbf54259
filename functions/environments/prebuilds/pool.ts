import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import type { Key } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { get, put, query, remove, update, updateExisting } from '#platform/store/table.ts';
import { keys } from '../keys.ts';
import type { Preset } from '../templates/plan.ts';
import type { Template } from '../templates/records.ts';
import { getFound } from '../templates/versions.ts';
import { type Environment, getEnvironments } from '../workspaces/records.ts';

/** Records of pools: a template's unclaimed environments, and the state of each preset. */

/** A template with pools, which only one pass at a time may change. */
export interface Pooled {
  /** End of the pass's lease on the pools, in ms since 1970. */
  poolLease?: number;
  /** Time of the last request for a pass; absent: the template has never had a pool. UTC ISO 8601. */
  wokenAt?: string;
}

const pointer = (environment: Pick<Environment, 'templateId' | 'createdAt' | 'id'>): Key =>
  keys.prebuild(environment.templateId, environment.createdAt, environment.id);

export const enterPool = async (environment: Environment): Promise<void> => {
  await put({ ...pointer(environment), environmentId: environment.id });
};

/** Can be repeated. */
export const leavePool = async (environment: Environment): Promise<void> => {
  await remove(pointer(environment));
};

/** Oldest first. 1 query, 1 read per 100. @param tidy removes leftover entries of interrupted claims and deletions */
export const listPool = async (templateId: string, { tidy = false } = {}): Promise<Environment[]> => {
  const { pk } = keys.template(templateId);
  const entries = await query<Key & { environmentId: string }>({ pk, prefix: 'PREBUILD#' });
  const all = await getEnvironments(entries.map(({ environmentId }) => environmentId));
  const pool = new Map(all.filter(({ prebuild }) => prebuild).map((environment) => [environment.id, environment]));
  const stale = tidy ? entries.filter(({ environmentId }) => !pool.has(environmentId)) : [];
  await Promise.all(stale.map(({ pk: of, sk }) => remove({ pk: of, sk })));
  return entries.flatMap(({ environmentId }) => pool.get(environmentId) ?? []);
};

export interface PresetRecord {
  /** Failed builds since the last success, oldest first; in ms since 1970. */
  failures: { id: string; at: number }[];
  lastInvalidatedAt?: string;
}

export const getPresetRecord = async (templateId: string, presetId: string): Promise<PresetRecord> => ({
  failures: [],
  ...(await get<PresetRecord>(keys.pool(templateId, presetId))),
});

export const setFailures = async (
  templateId: string,
  presetId: string,
  failures: PresetRecord['failures'],
): Promise<void> => {
  await update(keys.pool(templateId, presetId), { set: { failures } });
};

/** Marks the preset's existing environments for replacement. */
export const invalidatePreset = async (templateId: string, presetId: string, at: string): Promise<void> => {
  await update(keys.pool(templateId, presetId), { set: { lastInvalidatedAt: at } });
};

export const hasPool = ({ instances, scheduled }: Preset): boolean =>
  instances !== undefined || scheduled !== undefined;

/** Requests a pass by the next sweep. 1 write. */
export const wakePool = async (templateId: string): Promise<void> => {
  await updateExisting(keys.template(templateId), {
    set: { ...dueIn(templateId, 0), wokenAt: new Date().toISOString() },
  });
};

/**
 * Called after a change of versions or settings, which also cancels pending environments of a former version. 1 read
 * for a template that never had a pool. If the invocation fails, the sweep makes the pass.
 */
export const wakeIfPooled = async (template: Template): Promise<void> => {
  if ((template as Pooled).wokenAt || (await getFound(template.activeVersionId)).presets.some(hasPool)) {
    await wakePool(template.id);
    const due = [keys.template(template.id)];
    await invokeLater(environment.environmentSweepFunction, { due }).catch((error) =>
      logError('pass over pools not started; the sweep repeats it', error, { template: template.id }),
    );
  }
};

const leaseMs = 5 * 60_000;

/** Returns the template, or undefined while another pass holds its pools. */
export const takeLease = (templateId: string): Promise<(Template & Pooled) | undefined> =>
  updateExisting<Template & Pooled>(keys.template(templateId), {
    set: { poolLease: Date.now() + leaseMs, ...dueIn(templateId, leaseMs / 1000) },
    condition: 'attribute_not_exists(poolLease) OR poolLease < :now',
    values: { ':now': Date.now() },
  });

/**
 * Ends a pass. A pass requested meanwhile follows at once.
 * @param seconds time until the next pass; undefined when none is needed
 */
export const endLease = async ({ id, wokenAt }: Template & Pooled, seconds: number | undefined): Promise<void> => {
  const ended = await update(keys.template(id), {
    set: seconds === undefined ? {} : dueIn(id, seconds),
    remove: ['poolLease', ...(seconds === undefined ? dueAttributes : [])],
    condition: wokenAt ? 'wokenAt = :woken' : 'attribute_exists(pk) AND attribute_not_exists(wokenAt)',
    values: { ':woken': wokenAt },
  });
  if (!ended) await updateExisting(keys.template(id), { set: dueIn(id, 0), remove: ['poolLease'] });
};

export const isPaused = async (organization: string): Promise<boolean> =>
  (await get<{ paused: boolean }>(keys.prebuildSettings(organization)))?.paused === true;

export const setPaused = async (organization: string, paused: boolean): Promise<void> => {
  await put({ ...keys.prebuildSettings(organization), paused });
};
