import type { Preset } from '../templates/plan.ts';
import { isWithin, parseSchedule } from '../workspaces/cron.ts';
import type { PresetRecord } from './pool.ts';

/** Computes the changes to the pool of one preset (Coder: enterprise/coderd/prebuilds). Pure. */

export type MemberState = 'pending' | 'starting' | 'running' | 'failed' | 'deleting';

export interface Member {
  id: string;
  createdAt: string;
  state: MemberState;
}

export interface Decision {
  create: number;
  remove: string[];
  /** Builds to cancel, which have not started and have no resources. */
  cancel: string[];
  /** Too many failures: no build starts until there is a new version. */
  isLimited: boolean;
}

const maxFailures = 3;
const backoffMs = 60_000;
const lookbackMs = 3_600_000;

/** Current number of instances: from a schedule, otherwise from the preset. */
export const desiredInstances = ({ instances = 0, scheduled }: Preset, now: number): number => {
  const entry = scheduled?.find(({ cron, zone }) => {
    const schedule = parseSchedule(`CRON_TZ=${zone} ${cron}`);
    return schedule !== undefined && isWithin(schedule, now);
  });
  return entry?.instances ?? instances;
};

const isExpired = ({ ttlMs }: Preset, { lastInvalidatedAt }: PresetRecord, now: number) => {
  return ({ createdAt }: Member): boolean =>
    (ttlMs !== undefined && Date.parse(createdAt) + ttlMs <= now) ||
    (lastInvalidatedAt !== undefined && createdAt < lastInvalidatedAt);
};

/** End of the backoff after failures, in ms since 1970. */
export const backoffUntil = ({ failures }: PresetRecord, now: number): number => {
  const recent = failures.filter(({ at }) => at > now - lookbackMs);
  const last = recent.at(-1);
  return last ? last.at + recent.length * backoffMs : 0;
};

/** Removes members of an outdated version or preset. */
export const retire = (members: readonly Member[]): Decision => ({
  create: 0,
  remove: members.filter(({ state }) => state === 'running' || state === 'failed').map(({ id }) => id),
  cancel: members.filter(({ state }) => state === 'pending').map(({ id }) => id),
  isLimited: false,
});

/** @param members oldest first */
export const decide = (preset: Preset, record: PresetRecord, members: readonly Member[], now: number): Decision => {
  const desired = desiredInstances(preset, now);
  const expired = isExpired(preset, record, now);
  const running = members.filter(({ state }) => state === 'running');
  const fresh = running.filter((member) => !expired(member));
  const coming = members.filter(({ state }) => state === 'starting' || state === 'pending').length;
  const isLimited = record.failures.length >= maxFailures;
  const rests = isLimited || backoffUntil(record, now) > now;
  return {
    create: rests ? 0 : Math.max(0, desired - fresh.length - coming),
    remove: [
      ...members.filter(({ state }) => state === 'failed'),
      ...running.filter(expired),
      ...fresh.slice(0, Math.max(0, fresh.length - desired)),
    ].map(({ id }) => id),
    cancel: [],
    isLimited,
  };
};
