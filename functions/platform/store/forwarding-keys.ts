import type { Key } from './key.ts';

/**
 * What the table (keys.ts) holds of requests that agents send for the platform; apart from the other keys, as few functions
 * need them:
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `APOOL#<id>` | `FORWARDER#<agent id>` | agent that sends requests |
 * | | `REQUEST#<at>#<id>` | request that nobody has yet |
 * | | `ANSWER#<id>` | what came of it |
 */
export const forwardingKeys = {
  forwarder: (poolId: string, agent: string): Key => ({ pk: `APOOL#${poolId}`, sk: `FORWARDER#${agent}` }),
  request: (poolId: string, at: string, id: string): Key => ({ pk: `APOOL#${poolId}`, sk: `REQUEST#${at}#${id}` }),
  answer: (poolId: string, id: string): Key => ({ pk: `APOOL#${poolId}`, sk: `ANSWER#${id}` }),
};
