import { byId, inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { type Agent, getAgent } from './agents.ts';
import { getAgentPool } from './pools/records.ts';

export const agentPool = byId({
  what: 'agent pool',
  parameter: 'pool',
  get: getAgentPool,
  visibleWith: 'agent-pool:read',
});

/** Agents are deleted with their pool. */
export const agent: Finder<Agent> = {
  what: 'agent',
  parameter: 'agent',
  find: async (request) => {
    const agent = await getAgent(param(request, 'agent'));
    return agent && (await getAgentPool(agent.poolId)) ? agent : undefined;
  },
  visibleWith: 'agent-pool:read',
  scope: inOrganization,
};
