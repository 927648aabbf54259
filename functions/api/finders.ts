import { type Agent, getAgent } from '../agents/agents.ts';
import { type AgentPool, getAgentPool } from '../agents/records.ts';
import { type ConfigurationVersion, getConfigurationVersion } from '../configurations/records.ts';
import { getOrganization, type Organization } from '../people/organizations/records.ts';
import { getPolicy, type Policy } from '../policies/records.ts';
import { getPolicySet, type PolicySet } from '../policies/set-records.ts';
import { getPolicySetVersion, type PolicySetVersion } from '../policies/set-version-records.ts';
import { getProject, type Project } from '../projects/records.ts';
import type { Run } from '../run/run.ts';
import { getTask, type Task } from '../run-tasks/records.ts';
import { runOfComment, runOfEvent } from '../runs/events.ts';
import { getRun } from '../runs/records.ts';
import { getRunTrigger, type RunTrigger } from '../runs/triggers.ts';
import { readOutputId } from '../states/document.ts';
import { getStateVersion, type StateVersion } from '../states/records.ts';
import { applyId, costEstimateId, planId, runIdOf } from '../store/id.ts';
import { getVariableSet, type VariableSet } from '../variables/set-records.ts';
import { findWorkspace, getWorkspace, type Workspace } from '../workspaces/records.ts';
import type { Scope } from './permissions/grants.ts';
import type { ApiRequest } from './request.ts';
import type { Finder, Subject } from './route.ts';
import { relatedIn } from './validation.ts';

/** How routes find what they act on, by the parameters of their paths. */

const param = ({ params }: ApiRequest, name: string): string => params[name] ?? '';

/** The organization decides. */
const inOrganization = ({ organization }: Subject): Scope => ({ organization });
/** What belongs to a workspace is seen with it. */
export const inWorkspace = {
  seen: 'workspace:read',
  scope: ({ organization, workspaceId }: Subject & { workspaceId: string }): Scope => ({
    organization,
    workspace: workspaceId,
  }),
} as const;

/** An organization as the subject of a route. */
export interface InOrganization extends Subject {
  record: Organization;
}

export const organization: Finder<InOrganization> = {
  what: 'organization',
  parameter: 'organization',
  find: async (request) => {
    const record = await getOrganization(param(request, 'organization'));
    return record && { organization: record.name, record };
  },
  seen: 'organization:read',
  scope: inOrganization,
};

/** Where something new is to be: in the organization, or in the project that the body names. */
export interface NewIn extends InOrganization {
  projectId?: string;
}

export const inProjectOf = (
  relationship: string,
  types: ['projects', ...'organizations'[]],
  otherwise?: (record: Organization) => string,
): Finder<NewIn> => ({
  ...organization,
  find: async (request) => {
    const named = relatedIn(request, relationship, ...types);
    const found = await organization.find(request);
    const projectId = named?.type === 'projects' ? named.id : undefined;
    return found && { ...found, projectId: projectId ?? otherwise?.(found.record) };
  },
  scope: ({ organization: name, projectId, record }) =>
    projectId === undefined
      ? { organization: name }
      : { organization: name, project: projectId, isDefaultProject: projectId === record.defaultProjectId },
});

/** Terraform asks what its organization can do before anything else. */
export const entitledOrganization: Finder<InOrganization> = {
  ...organization,
  seen: 'organization:read-entitlements',
  shared: async ({ organization: name }) => ({ organization: name }),
};

export const project: Finder<Project> = {
  what: 'project',
  parameter: 'project',
  find: (request) => getProject(param(request, 'project')),
  seen: 'project:read',
  scope: (project) => ({ organization: project.organization, project }),
};

export const workspace: Finder<Workspace> = {
  what: 'workspace',
  parameter: 'workspace',
  find: (request) => getWorkspace(param(request, 'workspace')),
  seen: 'workspace:read',
  scope: (workspace) => ({ organization: workspace.organization, workspace }),
};

export const workspaceByName: Finder<Workspace> = {
  ...workspace,
  parameter: 'name',
  find: (request) => findWorkspace(param(request, 'organization'), param(request, 'name')),
};

/** A workspace as it may be found by runs that it shares its state with. */
const withSharedState = (finder: Finder<Workspace>): Finder<Workspace> => ({
  ...finder,
  shared: async (found) => ({ organization: found.organization, workspace: found }),
});

export const sharedWorkspace = withSharedState(workspace);
export const sharedWorkspaceByName = withSharedState(workspaceByName);

export const variableSet: Finder<VariableSet> = {
  what: 'variable set',
  parameter: 'varset',
  find: (request) => getVariableSet(param(request, 'varset')),
  seen: 'varset:read',
  scope: (variableSet) => ({ organization: variableSet.organization, variableSet }),
};

export const policy: Finder<Policy> = {
  what: 'policy',
  parameter: 'policy',
  find: (request) => getPolicy(param(request, 'policy')),
  seen: 'policy:read',
  scope: inOrganization,
};

export const policySet: Finder<PolicySet> = {
  what: 'policy set',
  parameter: 'policySet',
  find: (request) => getPolicySet(param(request, 'policySet')),
  seen: 'policy:read',
  scope: inOrganization,
};

/** Gone with its policy set. */
export const policySetVersion: Finder<PolicySetVersion> = {
  what: 'policy set version',
  parameter: 'policySetVersion',
  find: async (request) => {
    const found = await getPolicySetVersion(param(request, 'policySetVersion'));
    return found && (await getPolicySet(found.policySetId)) ? found : undefined;
  },
  seen: 'policy:read',
  scope: inOrganization,
};

export const runTrigger: Finder<RunTrigger> = {
  what: 'run trigger',
  parameter: 'trigger',
  find: (request) => getRunTrigger(param(request, 'trigger')),
  ...inWorkspace,
};

export const task: Finder<Task> = {
  what: 'run task',
  parameter: 'task',
  find: (request) => getTask(param(request, 'task')),
  seen: 'task:read',
  scope: inOrganization,
};

export const agentPool: Finder<AgentPool> = {
  what: 'agent pool',
  parameter: 'pool',
  find: (request) => getAgentPool(param(request, 'pool')),
  seen: 'agent-pool:read',
  scope: inOrganization,
};

/** Gone with its pool. */
export const agent: Finder<Agent> = {
  what: 'agent',
  parameter: 'agent',
  find: async (request) => {
    const found = await getAgent(param(request, 'agent'));
    return found && (await getAgentPool(found.poolId)) ? found : undefined;
  },
  seen: 'agent-pool:read',
  scope: inOrganization,
};

export const configurationVersion: Finder<ConfigurationVersion> = {
  what: 'configuration version',
  parameter: 'version',
  find: (request) => getConfigurationVersion(param(request, 'version')),
  ...inWorkspace,
};

/** A run task may look at the configuration of the run that asks it. */
export const taskConfigurationVersion: Finder<ConfigurationVersion> = {
  ...configurationVersion,
  ofTask: ({ id }, asking) => asking.configurationVersionId === id,
};

export const run: Finder<Run> = {
  what: 'run',
  parameter: 'run',
  find: (request) => getRun(param(request, 'run')),
  ...inWorkspace,
};

/** Plans, applies and cost estimates are parts of their run. */
const part = (what: string, idOf: (runId: string) => string): Finder<Run> => ({
  what,
  parameter: what,
  find: async (request) => {
    const id = param(request, what);
    const runId = runIdOf(id);
    return idOf(runId) === id ? getRun(runId) : undefined;
  },
  ...inWorkspace,
});

export const plan = part('plan', planId);
/** A run task may look at the plan of the run that asks it. */
export const taskPlan: Finder<Run> = { ...plan, ofTask: ({ id }, asking) => asking.id === id };
export const apply = part('apply', applyId);
/** The run that has the estimate. */
export const costEstimate: Finder<Run> = {
  what: 'cost estimate',
  parameter: 'estimate',
  find: async (request) => {
    const id = param(request, 'estimate');
    const found = costEstimateId(runIdOf(id)) === id ? await getRun(runIdOf(id)) : undefined;
    return found?.costEstimate && found;
  },
  ...inWorkspace,
};

/** The run that something said of it belongs to. */
const about = (what: string, parameter: string, runIdIn: (id: string) => string | undefined): Finder<Run> => ({
  what,
  parameter,
  find: async (request) => {
    const id = runIdIn(param(request, parameter));
    return id === undefined ? undefined : getRun(id);
  },
  ...inWorkspace,
});

export const runOfAComment = about('comment', 'comment', runOfComment);
export const runOfAnEvent = about('run event', 'event', runOfEvent);

/** Older versions are for people: runs read what is current. */
const currentState = async ({ id, workspaceId }: StateVersion) => {
  const found = await getWorkspace(workspaceId);
  return found?.state?.id === id ? { organization: found.organization, workspace: found } : undefined;
};

export const stateVersion: Finder<StateVersion> = {
  what: 'state version',
  parameter: 'version',
  find: (request) => getStateVersion(param(request, 'version')),
  ...inWorkspace,
};

export const sharedStateVersion: Finder<StateVersion> = { ...stateVersion, shared: currentState };

/** The state version that an output belongs to. */
export const stateVersionOfOutput: Finder<StateVersion> = {
  what: 'state version output',
  parameter: 'output',
  find: async (request) => {
    const named = readOutputId(param(request, 'output'));
    return named && getStateVersion(named.stateVersionId);
  },
  ...inWorkspace,
  shared: currentState,
};
