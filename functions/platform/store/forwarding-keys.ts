import { ofAgentPool } from './key.ts';

/**
 * The part of the table's layout (keys.ts) for requests that agents send for the platform. Separate, because few
 * functions need it:
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `APOOL#<id>` | `FORWARDER#<agent id>` | agent that sends requests |
 * | | `REQUEST#<at>#<id>` | unclaimed request |
 * | | `ANSWER#<id>` | response |
 */
export const forwardingKeys = {
  forwarder: (poolId: string, agent: string) => ofAgentPool(poolId, `FORWARDER#${agent}`),
  request: (poolId: string, at: string, id: string) => ofAgentPool(poolId, `REQUEST#${at}#${id}`),
  answer: (poolId: string, id: string) => ofAgentPool(poolId, `ANSWER#${id}`),
};
