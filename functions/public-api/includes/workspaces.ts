import { many, one, type Relationship, type Resource } from '#api/answer.ts';
import type { Granted } from '#api/permissions/granted.ts';
import { readWithin } from '#api/response-size.ts';
import type { Context, Subject } from '#api/route.ts';
import { listAgents } from '#resources/agents/agents.ts';
import { agentPoolDocument } from '#resources/agents/document.ts';
import { getAgentPool } from '#resources/agents/pools/records.ts';
import { configurationVersionDocument, ingressDocuments } from '#resources/configurations/document.ts';
import { readReadme } from '#resources/configurations/readme.ts';
import { getConfigurationVersion, getConfigurationVersions } from '#resources/configurations/records.ts';
import { organizationDocument } from '#resources/organizations/document.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { projectDocuments } from '#resources/projects/document.ts';
import { getProjects } from '#resources/projects/records.ts';
import { applyDocument, planDocument, runDocument } from '#resources/runs/document.ts';
import { getRuns } from '#resources/runs/records.ts';
import { outputId, stateVersionDocument } from '#resources/states/document.ts';
import { getStateVersion, getStateVersions, readSummary } from '#resources/states/records.ts';
import { userDocument } from '#resources/users/user-document.ts';
import { getUsers } from '#resources/users/users.ts';
import { variableDocument } from '#resources/variables/document.ts';
import { listVariables } from '#resources/variables/records.ts';
import { currentConfigurationId, effectiveTagDocuments, readmeDocument } from '#resources/workspaces/document.ts';
import { healthDocuments } from '#resources/workspaces/health/document.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import {
  commitIncludes,
  includePermissions,
  type Related,
  type ShownWorkspace,
  workspaceIncludes,
} from '#resources/workspaces/related.ts';
import type { Run } from '#run/run.ts';

type Include = keyof typeof includePermissions;

type Has = (name: Include) => boolean;

const outputsOf = async ({ id, state }: Workspace): Promise<Resource[]> => {
  const version = state && (await getStateVersion(state.id));
  const outputs = (version && (await readSummary(version)))?.outputs ?? [];
  return outputs.map(
    ({ name, sensitive, type, value }, index): Resource => ({
      id: outputId(version?.id ?? id, index),
      type: 'workspace-outputs',
      attributes: { name, sensitive, 'output-type': type, value: sensitive ? null : value },
    }),
  );
};

const readmeOf = async ({ configuration, workingDirectory }: Workspace): Promise<Resource[]> => {
  const version = configuration && (await getConfigurationVersion(configuration.id));
  const markdown = version && (await readReadme(version, workingDirectory));
  return markdown === undefined ? [] : [readmeDocument(version?.id ?? '', markdown)];
};

/** Current and latest runs, often the same, each with its requested parts. */
const runsOf = async (shown: ShownWorkspace[], has: Has) => {
  const parts = ['plan', 'apply', 'configuration_version'] as const;
  const wants = (run: 'current_run' | 'latest_run') => has(run) || parts.some((part) => has(`${run}.${part}`));
  const current = distinct(shown.map(({ runId }) => runId));
  const latest = distinct(shown.map(({ workspace }) => workspace.latestRunId));
  const runs = await getRuns(
    distinct([...(wants('current_run') ? current : []), ...(wants('latest_run') ? latest : [])]),
  );
  const having = (part: (typeof parts)[number]): Run[] =>
    runs.filter(
      ({ id }) =>
        (has(`current_run.${part}`) && current.includes(id)) || (has(`latest_run.${part}`) && latest.includes(id)),
    );
  return { runs, having };
};

const distinct = (ids: (string | undefined)[]): string[] => [...new Set(ids)].filter((id) => id !== undefined);

const readAll = <T>(ids: (string | undefined)[], read: (ids: string[]) => Promise<T[]>): Promise<T[]> =>
  read(distinct(ids));

/** 2 reads per pool; there are few pools. */
const poolsOf = (workspaces: Workspace[]): Promise<Resource[]> =>
  readAll(
    workspaces.map(({ agentPoolId }) => agentPoolId ?? undefined),
    async (ids) => {
      const pools = ids.map(async (id) => {
        const [pool, agents] = await Promise.all([getAgentPool(id), listAgents(id)]);
        return pool && agentPoolDocument(pool, { agents });
      });
      return (await Promise.all(pools)).filter((pool) => pool !== undefined);
    },
  );

/** At most one: a list contains workspaces of a single organization. */
const organizationsOf = async (names: string[]) =>
  (await Promise.all(names.map(getOrganization))).filter((organization) => organization !== undefined);

const projectIdOf = ({ projectId }: Workspace): string => projectId;

interface Selection {
  workspaces: Workspace[];
  has: Has;
  /** Whether the request includes this resource of the workspace and the caller may see it. */
  may(name: Include, workspaceId: string): boolean;
}

/** Loads the resources in two rounds: the second reads ids found in the first. */
const loadRelated = async ({ workspaces, has, may }: Selection, ofReadableRuns: ShownWorkspace[]) => {
  const ids = (name: Include, idOf: (workspace: Workspace) => string | undefined) =>
    workspaces.filter(({ id }) => may(name, id)).map(idOf);
  const each = async <T>(name: Include, read: (workspace: Workspace) => Promise<T[]>): Promise<T[][]> =>
    has(name)
      ? readWithin(
          workspaces,
          async (workspace) => (may(name, workspace.id) ? read(workspace) : []),
          (workspace) => `the ${name} of workspace ${workspace.name}`,
        )
      : [];
  const [organizations, projects, { runs, having }, users, versions, outputs, readmes, variables] = await Promise.all([
    readAll(
      ids('organization', ({ organization }) => organization),
      organizationsOf,
    ),
    readAll([...ids('project', projectIdOf), ...ids('effective_tag_bindings', projectIdOf)], getProjects),
    runsOf(ofReadableRuns, has),
    readAll(
      ids('locked_by', ({ lock }) => (lock?.kind === 'user' ? lock.userId : undefined)),
      getUsers,
    ),
    readAll(
      ids('current_state_version', ({ state }) => state?.id),
      getStateVersions,
    ),
    each('outputs', outputsOf),
    each('readme', readmeOf),
    each('vars', ({ id }) => listVariables(id)),
  ]);
  const pools = await poolsOf(workspaces.filter(({ id }) => may('agent_pool', id)));
  const configurations = await readAll(
    [
      ...ids('current_configuration_version', currentConfigurationId),
      ...having('configuration_version').map((run) => run.configurationVersionId),
    ],
    getConfigurationVersions,
  );
  const tags = await each('effective_tag_bindings', async (workspace) =>
    effectiveTagDocuments(
      workspace,
      projects.find(({ id }) => id === workspace.projectId),
    ),
  );
  const vars = variables.map((list) => list.map((variable) => variableDocument(variable)));
  return {
    organization: organizations[0],
    projects,
    runs,
    having,
    users,
    versions,
    outputs,
    readmes,
    vars,
    pools,
    configurations,
    tags,
  };
};

/** Undefined without includes. @throws {ApiError} 400 */
export const relatedToWorkspaces = async (
  { request, principal }: Context<Subject>,
  shown: ShownWorkspace[],
  granted: (workspaceId: string) => Granted,
): Promise<Related | undefined> => {
  const includes = workspaceIncludes.of(request);
  if (includes.size === 0) return undefined;
  const has: Has = (name) => includes.has(name);
  const may = (name: Include, id: string) => has(name) && granted(id).has(includePermissions[name]);
  const workspaces = shown.map(({ workspace }) => workspace);
  const related = await loadRelated(
    { workspaces, has, may },
    shown.filter(({ workspace }) => granted(workspace.id).has('run:read')),
  );
  const { organization, projects, runs, having, users, versions, configurations, pools } = related;
  const { outputs, tags, vars, readmes } = related;
  const { baseUrl } = request;
  return {
    included: [
      ...(organization
        ? [organizationDocument(organization, await principal.on({ organization: organization.name }))]
        : []),
      ...(has('project') ? await projectDocuments(principal, projects) : []),
      ...runs.map((run) => runDocument(run, { granted: granted(run.workspaceId), userId: principal.userId })),
      ...having('plan').map((run) => planDocument(run, baseUrl)),
      ...having('apply').map((run) => applyDocument(run, baseUrl)),
      ...configurations.map((version) => configurationVersionDocument(version)),
      ...(commitIncludes.some((name) => includes.has(name)) ? ingressDocuments(configurations) : []),
      ...pools,
      ...users.map((user) => userDocument(user)),
      ...versions.map((version) => stateVersionDocument(version, { baseUrl, granted: granted(version.workspaceId) })),
      ...workspaces.filter(({ id }) => may('current_assessment_result', id)).flatMap(healthDocuments),
      ...[...outputs, ...tags, ...vars, ...readmes].flat(),
    ],
    relationships: new Map(
      workspaces.map(({ id }, i) => [
        id,
        {
          ...toMany('outputs', 'workspace-outputs', outputs[i]),
          ...toMany('effective-tag-bindings', 'effective-tag-bindings', tags[i]),
          ...toMany('vars', 'vars', vars[i]),
          ...(has('readme') ? { readme: one('workspace-readme', readmes[i]?.[0]?.id) } : {}),
        },
      ]),
    ),
  };
};

const toMany = (name: string, type: string, resources: Resource[] | undefined): Record<string, Relationship> =>
  resources
    ? {
        [name]: many(
          type,
          resources.map(({ id }) => id),
        ),
      }
    : {};
