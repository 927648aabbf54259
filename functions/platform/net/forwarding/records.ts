import { forwardingKeys } from '#platform/store/forwarding-keys.ts';
import { keys } from '#platform/store/keys.ts';
import { get, put, query, queryAll, remove, update } from '#platform/store/table.ts';
import type { Sealed } from './box.ts';

/**
 * Requests that agents of a pool send for the platform, in the pool's partition. A row is an unclaimed request.
 * Removing the row claims it, so that two agents never send the same one. An answer is a separate row with the
 * request's id.
 */

/** An agent that sends requests. */
export interface Forwarder {
  id: string;
  name: string;
  publicKey: string;
  /** Seconds since 1970; renewed by its pings. */
  expiresAt: number;
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** The agent's id begins with its pool's id (resources/agents/agents.ts). 1 write. */
export const keepForwarder = async (
  poolId: string,
  { id, name, publicKey }: Pick<Forwarder, 'id' | 'name' | 'publicKey'>,
  livesMs: number,
): Promise<void> => {
  const expiresAt = seconds(Date.now() + livesMs);
  await update(forwardingKeys.forwarder(poolId, id), { set: { id, name, publicKey, expiresAt } });
};

export const removeForwarder = (poolId: string, id: string): Promise<boolean> =>
  remove(forwardingKeys.forwarder(poolId, id));

/** Live agents. 1 read. */
export const listForwarders = async (poolId: string): Promise<Forwarder[]> => {
  const all = await queryAll<Forwarder>({ pk: keys.agentPool(poolId).pk, prefix: 'FORWARDER#' });
  return all.filter(({ expiresAt }) => expiresAt > seconds(Date.now()));
};

export interface WaitingRequest extends Sealed {
  id: string;
  /** Time after which the requester no longer waits. UTC ISO 8601. */
  until: string;
}

interface Row extends WaitingRequest {
  pk: string;
  sk: string;
}

/** Minimum lifetime of rows that no agent removed. */
const keptMs = 3_600_000;
const expiry = () => ({ expiresAt: seconds(Date.now() + keptMs) });

/** 1 write. */
export const addRequest = async (poolId: string, request: WaitingRequest): Promise<void> => {
  const at = new Date().toISOString();
  await put({ ...forwardingKeys.request(poolId, at, request.id), ...request, ...expiry() });
};

const lookedAt = 25;

/** Claims the oldest request of the pool that the agent can open. 1 read if there is none. */
export const takeRequest = async (poolId: string, agent: string): Promise<WaitingRequest | undefined> => {
  const { pk } = keys.agentPool(poolId);
  const rows = await query<Row>({ pk, from: 'REQUEST#', to: 'REQUEST#~', limit: lookedAt });
  const now = new Date().toISOString();
  for (const row of rows) {
    const isOver = row.until < now;
    if (!isOver && !row.keys[agent]) continue;
    const own = await remove({ pk, sk: row.sk }, { condition: 'attribute_exists(pk)' });
    if (own && !isOver) return row;
  }
  return undefined;
};

/** 1 write. */
export const keepAnswer = async (poolId: string, id: string, box: Uint8Array): Promise<void> => {
  await update(forwardingKeys.answer(poolId, id), { set: { box, ...expiry() } });
};

/** 1 read. */
export const readAnswer = async (poolId: string, id: string): Promise<Uint8Array | undefined> =>
  (await get<{ box: Uint8Array }>(forwardingKeys.answer(poolId, id)))?.box;
