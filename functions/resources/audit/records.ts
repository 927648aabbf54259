import { createHash } from 'node:crypto';
import { environment } from '#platform/environment.ts';
import { auditShards, type Key, keys } from '#platform/store/keys.ts';
import { create, query } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import type { Run } from '#run/run.ts';

/** Audit events of an organization (decisions/0014). A stored event never changes; it expires. */

export interface AuditEvent {
  /** A UUID. */
  id: string;
  /** UTC, ISO 8601. */
  at: string;
  organization: string;
  /** Id of a user, or of the account of a team or organization. */
  actor: string;
  /** Kind of the token, or the platform on behalf of the actor. */
  by: 'user' | 'team' | 'organization' | 'audit-trails' | 'scim' | 'slack' | 'run' | 'task' | 'platform';
  tokenId?: string;
  requestId?: string;
  /** IP address and user agent of the request. */
  address?: string;
  agent?: string;
  resource: { type: string; id: string | null };
  action: string;
  allowed: boolean;
  /** Status of the response if the request failed. */
  failed?: number | undefined;
  /** Names at that time, for resources that do not exist any more. */
  name?: string;
  workspaceName?: string;
  /** Id of the workspace; for actions of the platform on a run, also the workspace's name. */
  meta?: Record<string, string>;
}

interface Failure extends Key {
  failed: number;
}

/** Time from which DynamoDB may remove it, in seconds since 1970. */
const expiresAt = (at: string): number => expiryIn(environment.auditRetentionDays * 86_400, Date.parse(at));

/** 1 write. Can be repeated: an existing event stays unchanged. */
export const keepEvent = async (event: AuditEvent): Promise<void> => {
  const { failed, ...stored } = event;
  await create({ ...keys.auditEvent(event), ...stored, expiresAt: expiresAt(event.at) });
};

/** Records that the request failed, beside the unchanged event. 1 write. */
export const keepFailure = async (event: AuditEvent, failed: number): Promise<void> => {
  const { pk, sk } = keys.auditEvent(event);
  await create({ pk, sk: `${sk}#FAILED`, failed, expiresAt: expiresAt(event.at) });
};

/** The same UUID for the same origin (RFC 9562: version 8). */
const derivedUuid = (origin: string): string =>
  createHash('sha256')
    .update(origin)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');

/** Records an action of the platform on behalf of the user who confirmed the run, or created it with auto-apply. 1 write. */
export const keepRunEvent = (run: Run, action: string, at = new Date().toISOString()): Promise<void> =>
  keepEvent({
    id: derivedUuid(`${run.id} ${action}`),
    at,
    organization: run.organization,
    actor: run.decision?.by ?? run.createdBy,
    by: 'platform',
    resource: { type: 'run', id: run.id },
    action,
    allowed: true,
    meta: { workspace_id: run.workspaceId, workspace: run.workspaceName },
  });

/**
 * Records an action of the platform on behalf of a user who requested it elsewhere; the same origin gives the same
 * event. 1 write.
 */
export const keepRequestedEvent = (
  event: Pick<AuditEvent, 'at' | 'organization' | 'actor' | 'resource' | 'action' | 'meta'>,
  origin: string,
): Promise<void> => keepEvent({ ...event, id: derivedUuid(origin), by: 'platform', allowed: true });

const pieceSize = 250;

type StoredEvent = Failure | (AuditEvent & Key);

/** Oldest first or newest first. */
export type Direction = 'forward' | 'backward';

async function* itemsIn(pk: string, from: string, direction: Direction): AsyncGenerator<StoredEvent> {
  for (let after: string | undefined, more = true; more; ) {
    const items = await query<StoredEvent>({
      pk,
      from,
      to: '~',
      after,
      limit: pieceSize,
      reverse: direction === 'backward',
    });
    yield* items;
    more = items.length === pieceSize;
    after = items.at(-1)?.sk;
  }
}

/**
 * Events of one partition, each joined with the marker of its failure. The marker is stored right after the event, so
 * going forward an event is returned only when the next item has been read.
 */
async function* eventsIn(pk: string, from: string, direction: Direction): AsyncGenerator<AuditEvent> {
  let last: AuditEvent | undefined;
  let failed: number | undefined;
  for await (const item of itemsIn(pk, from, direction)) {
    const isEvent = 'id' in item;
    if (direction === 'backward') {
      if (isEvent) yield { ...item, failed };
      failed = isEvent ? undefined : item.failed;
      continue;
    }
    if (!isEvent) {
      if (last) last = { ...last, failed: item.failed };
      continue;
    }
    if (last) yield last;
    last = item;
  }
  if (last) yield last;
}

/** Orders events of the same millisecond too, so that pages in either direction contain each event once. */
const orderOf = ({ at, id }: AuditEvent): string => `${at}#${id}`;

/** Merges sorted sources into one sorted sequence. */
async function* merged(sources: AsyncGenerator<AuditEvent>[], direction: Direction): AsyncGenerator<AuditEvent> {
  const sign = direction === 'forward' ? 1 : -1;
  const byOrder = (a: AuditEvent, b: AuditEvent) => sign * (orderOf(a) < orderOf(b) ? -1 : 1);
  const next = async (source: AsyncGenerator<AuditEvent>) => {
    const { value } = await source.next();
    return value ? [{ source, value }] : [];
  };
  const heads = (await Promise.all(sources.map(next))).flat();
  for (;;) {
    const first = heads.sort((a, b) => byOrder(a.value, b.value)).shift();
    if (!first) return;
    yield first.value;
    heads.push(...(await next(first.source)));
  }
}

const dayMs = 86_400_000;

const daysFrom = (first: string): string[] => {
  const days: string[] = [];
  for (let day = Date.parse(first.slice(0, 10)); day <= Date.now(); day += dayMs) {
    days.push(new Date(day).toISOString().slice(0, 10));
  }
  return days;
};

/**
 * Events after a time. 1 read per day and shard, and one per {@link pieceSize} events.
 * @param since UTC, ISO 8601; expired events are not returned
 */
export async function* eventsSince(
  organization: string,
  since: string,
  direction: Direction = 'forward',
): AsyncGenerator<AuditEvent> {
  const oldest = new Date(Date.now() - environment.auditRetentionDays * dayMs).toISOString();
  const from = since > oldest ? since : oldest;
  const days = daysFrom(from);
  for (const date of direction === 'forward' ? days : days.reverse()) {
    const shards = Array.from({ length: auditShards }, (_, shard) => keys.auditShard(organization, date, shard));
    const sources = shards.map((pk) => eventsIn(pk, from, direction));
    for await (const event of merged(sources, direction)) if (event.at > from) yield event;
  }
}
