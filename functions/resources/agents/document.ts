import { many, one } from '#api/answer.ts';
import { agentStatus, silentMs } from '#run/agents.ts';
import type { Agent } from './agents.ts';
import type { AgentPool } from './pools/records.ts';

const statusOf = (agent: Agent, now: number) => agentStatus(agent, new Date(now - silentMs).toISOString());

/** @param workspaceIds workspaces that use the pool and that the reader may see; absent when not loaded */
export const agentPoolDocument = (
  pool: AgentPool,
  { agents, workspaceIds }: { agents: Agent[]; workspaceIds?: string[] },
  now = Date.now(),
) => ({
  id: pool.id,
  type: 'agent-pools',
  attributes: {
    name: pool.name,
    'created-at': pool.createdAt,
    'organization-scoped': pool.organizationScoped,
    /** Counts only agents that respond. */
    'agent-count': agents.filter((agent) => ['idle', 'busy'].includes(statusOf(agent, now))).length,
  },
  relationships: {
    organization: one('organizations', pool.organization),
    agents: { links: { related: `/api/v2/agent-pools/${pool.id}/agents` } },
    'authentication-tokens': { links: { related: `/api/v2/agent-pools/${pool.id}/authentication-tokens` } },
    ...(workspaceIds ? { workspaces: many('workspaces', workspaceIds) } : {}),
    'allowed-workspaces': many('workspaces', pool.allowedWorkspaceIds),
    'allowed-projects': many('projects', pool.allowedProjectIds),
    'excluded-workspaces': many('workspaces', pool.excludedWorkspaceIds),
  },
  links: { self: `/api/v2/agent-pools/${pool.id}` },
});

export const agentDocument = (agent: Agent, now = Date.now()) => ({
  id: agent.id,
  type: 'agents',
  attributes: {
    name: agent.name,
    'ip-address': agent.address,
    status: statusOf(agent, now),
    'last-ping-at': agent.lastPingAt,
    'created-at': agent.createdAt,
  },
  links: { self: `/api/v2/agents/${agent.id}` },
});
