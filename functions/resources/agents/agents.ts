import { setOrRemove } from '#platform/store/edits.ts';
import { derivedId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { get, queryAll, remove, update, updateExisting } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';
import type { AgentFacts } from '#run/agents.ts';

/** Agents: programs on a customer's machines that carry out runs (HCP API: agents). */

export interface Agent extends AgentFacts {
  /** Starts with the characters of its pool's id, so that finding it takes no extra read. */
  id: string;
  poolId: string;
  organization: string;
  name: string;
  /** IP address of the last request. */
  address: string | null;
  createdAt: string;
}

/** An agent is removed this long after its last ping. */
const keptSeconds = 24 * 3600;

const form = /^agent-([A-Za-z0-9]{16})([A-Za-z0-9]{16})$/;

const place = (id: string): { poolId: string; rest: string } | undefined => {
  const [, pool, rest] = form.exec(id) ?? [];
  return pool && rest ? { poolId: `apool-${pool}`, rest } : undefined;
};

/** Whether the id belongs to an agent of this pool, present or removed. */
export const isOfPool = (id: string, poolId: string): boolean => place(id)?.poolId === poolId;

const keyOf = (id: string) => {
  const { poolId, rest } = place(id) ?? { poolId: '', rest: '' };
  return keys.agent(poolId, rest);
};

/** DynamoDB removes expired items days later. */
const current = (agent: (Agent & { expiresAt: number }) | undefined): Agent | undefined =>
  agent && agent.expiresAt > Date.now() / 1000 ? agent : undefined;

export const getAgent = async (id: string): Promise<Agent | undefined> =>
  place(id) && current(await get<Agent & { expiresAt: number }>(keyOf(id)));

/** In order of registration. */
export const listAgents = async (poolId: string): Promise<Agent[]> => {
  const all = await queryAll<Agent & { expiresAt: number }>({ pk: keys.agentPool(poolId).pk, prefix: 'AGENT#' });
  return all.filter(current).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
};

const alive = () => ({ lastPingAt: now(), expiresAt: expiryIn(keptSeconds) });

/**
 * Registers an agent, or the same one again when the response was lost. 1 write.
 * @param instance chosen by the agent and sent with each attempt, so that a repeat registers the same agent
 */
export const registerAgent = async (
  pool: { id: string; organization: string },
  { instance, name, address }: { instance: string; name: string; address: string | null },
): Promise<Agent> => {
  const id = `agent-${pool.id.replace(/^apool-/, '')}${derivedId('', `${pool.id} ${instance}`).slice(1)}`;
  const { organization } = pool;
  const set = { id, poolId: pool.id, organization, name, address, createdAt: now(), ...alive() };
  return (await update<Agent>(keyOf(id), { set, remove: ['job', 'ended'] })) as Agent;
};

/**
 * Records an agent's ping with its current activity, or its end. Undefined when the agent is unknown and has to
 * register again. 1 write.
 * @param poolId pool of the token in the request
 */
export const pingAgent = async (
  id: string,
  poolId: string,
  { address, job, ended }: Pick<Agent, 'address' | 'job' | 'ended'>,
): Promise<Agent | undefined> =>
  place(id)?.poolId === poolId
    ? updateExisting<Agent>(keyOf(id), setOrRemove({ address, job, ended, ...alive() }))
    : undefined;

/** An agent that is still running has to register again. */
export const removeAgent = ({ id }: Agent): Promise<boolean> => remove(keyOf(id));
