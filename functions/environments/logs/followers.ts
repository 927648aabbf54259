import { type Due, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { create, queryAll, remove, update, updateExisting } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';
import { type Cursor, start } from './entries.ts';
import type { Ticket } from './tickets.ts';

/**
 * Connections that follow a log. One invocation at a time sends to a connection, so that lines stay in order: it holds a
 * lease, and repeats its work if the connection was wanted again meanwhile.
 */
export interface Follower extends Ticket, Due {
  connectionId: string;
  /** Read until here. */
  cursor: Cursor;
  /** Time of the last message, in ms since 1970; 0 before the first. */
  sentAt: number;
  /** Number of requests to send new lines. */
  wanted: number;
  /** End of the lease. */
  deliveringUntil?: string;
}

/** More than the function has. */
const leaseMs = 70_000;
/** API Gateway ends connections after two hours (WebSocket APIs: quotas). */
const keptSeconds = 2.5 * 3600;
/** The sweep sends what was not pushed, and keeps quiet connections alive. */
const dueSeconds = 60;

/** As in `Run.environment`. */
export const jobOf = ({ kind, jobId }: Pick<Ticket, 'kind' | 'jobId'>): string => `${kind} ${jobId}`;

const keyOf = (follower: Pick<Follower, 'kind' | 'jobId' | 'connectionId'>): Key =>
  keys.logFollower(jobOf(follower), follower.connectionId);

const leaseEnd = (): string => new Date(Date.now() + leaseMs).toISOString();

/** Ids of connections end alike, and would share one part of the index. */
const due = ({ jobId }: Ticket) => dueIn(jobId, dueSeconds);

export const addFollower = async (ticket: Ticket, connectionId: string): Promise<void> => {
  const follower: Omit<Follower, 'wanted'> = { ...ticket, connectionId, cursor: start, sentAt: 0, ...due(ticket) };
  await create({ ...keyOf(follower), ...follower, expiresAt: expiryIn(keptSeconds) });
};

export const followersOf = (job: string): Promise<Follower[]> =>
  queryAll<Follower>({ pk: keys.logFollower(job, '').pk });

/** Undefined if another invocation holds the lease: it will send the new lines, too. 2 writes. */
export const claim = async (follower: Follower): Promise<Follower | undefined> => {
  const key = keyOf(follower);
  await updateExisting(key, { add: { wanted: 1 } });
  return updateExisting<Follower>(key, {
    set: { deliveringUntil: leaseEnd() },
    condition: 'attribute_not_exists(deliveringUntil) OR deliveringUntil < :now',
    values: { ':now': now() },
  });
};

const progressOf = ({ cursor, after, sentAt }: Follower) => ({ cursor, after, sentAt });

/**
 * Records what was sent, and ends the lease.
 * @param even although new lines were requested meanwhile
 * @returns the follower with the lease if new lines were requested; undefined if it is released, or gone
 */
export const release = async (follower: Follower, { even = false } = {}): Promise<Follower | undefined> => {
  const key = keyOf(follower);
  const isDue = (follower.dueAt ?? '') <= now();
  const released = await update<Follower>(key, {
    set: { ...progressOf(follower), ...(isDue ? due(follower) : {}) },
    remove: ['deliveringUntil'],
    condition: even ? 'attribute_exists(pk)' : 'wanted = :seen',
    values: even ? {} : { ':seen': follower.wanted },
  });
  if (released || even) return undefined;
  return updateExisting<Follower>(key, { set: { ...progressOf(follower), deliveringUntil: leaseEnd() } });
};

export const removeFollower = (follower: Follower): Promise<boolean> => remove(keyOf(follower));
