import { type Answer, noContent, ok, type Resource } from '#api/answer.ts';
import { badRequest, nameTaken, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { listLimit } from '#api/list-limit.ts';
import { pageFrom, pageWith, wholeList } from '#api/pagination.ts';
import { type Context, type Route, route, type Subject } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { findProjects } from '#resources/projects/records.ts';
import { tokenDocument } from '#resources/users/token-document.ts';
import { readToken } from '#resources/users/token-input.ts';
import { makeToken } from '#resources/users/token-routes.ts';
import { listTokens, noteIpAllowlistsOfTokens } from '#resources/users/tokens.ts';
import { workspaceDocuments } from '#resources/workspaces/document.ts';
import { findWorkspace } from '#resources/workspaces/records.ts';
import { type Agent, listAgents, removeAgent } from './agents.ts';
import { agentDocument, agentPoolDocument } from './document.ts';
import { agent, agentPool } from './finder.ts';
import { readAgentPoolChange, readNewAgentPool } from './input.ts';
import { workspacesOfPool } from './pool-workspaces.ts';
import {
  type AgentPool,
  allows,
  createAgentPool,
  deleteAgentPool,
  getAgentPool,
  listAgentPools,
  maxPools,
  updateAgentPool,
} from './pools/records.ts';

/** Agent pools, their agents and their tokens (HCP API: agent pools and agents, agent tokens). */

const include = includable('workspaces', 'hyok_configurations');

/** Documents of pools with the requested includes. */
const documents = async (
  { request, principal }: Context<Subject>,
  pools: AgentPool[],
): Promise<{ data: Resource[]; included?: Resource[] }> => {
  const included = include.of(request);
  const details = await Promise.all(
    pools.map(async (pool) => {
      const [agents, using] = await Promise.all([listAgents(pool.id), workspacesOfPool(pool.id)]);
      return { pool, agents, workspaces: await workspaceDocuments(principal, using) };
    }),
  );
  const data = details.map(({ pool, agents, workspaces }) =>
    agentPoolDocument(pool, { agents, workspaceIds: workspaces.map(({ id }) => id) }),
  );
  return included.size === 0 ? { data } : { data, included: details.flatMap(({ workspaces }) => workspaces) };
};

const single = async (context: Context<Subject>, pool: AgentPool): Promise<Answer> => {
  const { data, included } = await documents(context, [pool]);
  return withEtag(ok(data[0] as Resource, included), pool);
};

const create = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject, principal } = context;
  const name = subject.organization;
  const limit = listLimit(name, maxPools, 'agent pools', async () => (await listAgentPools(name)).length);
  const make = async () => createAgentPool(name, await readNewAgentPool(request, name, principal));
  const pool = await createLimited(limit, make, deleteAgentPool);
  if (!pool) throw nameTaken();
  return single(context, pool);
};

type Fits = (pool: AgentPool) => boolean;

/** Filters for pools that the named workspace or project may use; none match when it does not exist. */
const usableBy = async ({ request, subject, principal }: Context<InOrganization>): Promise<Fits[]> => {
  const { query } = request;
  const name = subject.organization;
  const filterValue = (subjects: string) =>
    query.get(`filter[allowed-${subjects}][name]`) ?? query.get(`filter[allowed_${subjects}][name]`);
  const fits: Fits[] = [];
  const workspaceName = filterValue('workspaces');
  if (workspaceName) {
    const workspace = await findWorkspace(name, workspaceName.slice(0, 100));
    const readsWorkspace = workspace && (await principal.on({ organization: name, workspace })).has('workspace:read');
    fits.push((pool) => !!readsWorkspace && allows(pool, workspace));
  }
  const projectName = filterValue('projects');
  if (projectName) {
    const [project] = await findProjects(name, [projectName.slice(0, 100)]);
    const readsProject = project && (await principal.on({ organization: name, project })).has('project:read');
    fits.push((pool) => !!readsProject && allows(pool, { projectId: project.id }));
  }
  return fits;
};

const orders: Record<string, (pool: AgentPool) => string> = {
  name: ({ name }) => name.toLowerCase(),
  'created-at': ({ createdAt }) => createdAt,
};

const sorted = <T>(items: T[], sort: string, by: Record<string, (item: T) => string>): T[] => {
  const descending = sort.startsWith('-');
  const name = descending ? sort.slice(1) : sort;
  // Every object inherits `constructor` and other names.
  const key = Object.hasOwn(by, name) ? by[name] : undefined;
  if (!key)
    throw badRequest(
      `sort: must be one of ${Object.keys(by).join(', ')}, with the prefix "-" for descending order`,
      'sort',
    );
  const rising = [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return descending ? rising.reverse() : rising;
};

const listAll = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const search = (request.query.get('q') ?? '').toLowerCase();
  const fits = await usableBy(context);
  const all = (await listAgentPools(subject.organization)).filter(
    (pool) => pool.name.toLowerCase().includes(search) && fits.every((usable) => usable(pool)),
  );
  const ordered = sorted(all, request.query.get('sort') || 'name', orders);
  return pageWith(request, ordered, (pools) => documents(context, pools));
};

const update = async (context: Context<AgentPool>): Promise<Answer> => {
  const { request, subject, principal } = context;
  const change = await readAgentPoolChange(request, subject.organization, principal);
  const editor = await editorOf(context, subject, 'agent pool');
  if (Object.keys(change).length === 0) return single(context, subject);
  const updated = await updateAgentPool(subject, change, editor);
  if (!updated) throw await refusedChange(request, 'agent pool', await getAgentPool(subject.id), nameTaken());
  return single(context, updated);
};

/** Names only uses that the caller may see. */
const remove = async (context: Context<AgentPool>): Promise<Answer> => {
  const { subject, principal } = context;
  if (!(await deleteAgentPool(subject))) {
    const using = await workspaceDocuments(principal, await workspacesOfPool(subject.id));
    const names = using.slice(0, 5).map(({ attributes }) => attributes.name);
    throw unprocessable(
      '/data',
      `Agent pool ${subject.name} is used by workspaces${names.length ? ` (${names.join(', ')}${using.length > 5 ? ', …' : ''})` : ''}, ` +
        'or by an OAuth client, or is the default of a project or of the organization. Select another agent pool or execution mode there first.',
    );
  }
  return noContent();
};

const agentOrders: Record<string, (one: Agent) => string> = { 'created-at': ({ createdAt }) => createdAt };

const agentsOf = async ({ request, subject }: Context<AgentPool>): Promise<Answer> => {
  const since = request.query.get('filter[last-ping-since]');
  if (since && Number.isNaN(Date.parse(since))) {
    throw badRequest('filter[last-ping-since]: must be a time such as 2030-01-31T00:00:00Z', 'filter[last-ping-since]');
  }
  const from = since ? new Date(since).toISOString() : '';
  const all = (await listAgents(subject.id)).filter(({ lastPingAt }) => lastPingAt >= from);
  const ordered = sorted(all, request.query.get('sort') || 'created-at', agentOrders);
  return pageFrom(request, ordered, (agent) => agentDocument(agent));
};

/** A running agent would register again. */
const removeOne = async ({ subject }: Context<Agent>): Promise<Answer> => {
  const { status } = agentDocument(subject).attributes;
  if (status === 'idle' || status === 'busy') {
    throw unprocessable(
      '/data',
      `Agent ${subject.name} is ${status}. Stop the agent (Ctrl-C) or revoke its token first.`,
    );
  }
  await removeAgent(subject);
  return noContent();
};

const tokensOf = async ({ request, subject }: Context<AgentPool>): Promise<Answer> =>
  wholeList(
    request,
    (await listTokens(subject.id)).map((token) => tokenDocument(token)),
  );

const createToken = async (context: Context<AgentPool>): Promise<Answer> => {
  const { id: userId, organization: home } = context.subject;
  const { description } = readToken(context.request);
  if (!description) {
    throw unprocessable('/data/attributes/description', 'description: is required');
  }
  const answer = await makeToken(context, { kind: 'agent', userId, organization: home, description });
  // Read after the token's creation, so that an allowlist created meanwhile either finds the token or is found here.
  const ipAllowlists = (await getOrganization(home))?.ipAllowlists;
  if (ipAllowlists !== undefined) await noteIpAllowlistsOfTokens(userId, ipAllowlists);
  return answer;
};

const ofOrganization = '/organizations/{organization}/agent-pools';
const ofPool = '/agent-pools/{pool}';

export const agentPoolRoutes: Route[] = [
  route('GET', ofOrganization, 'agent-pool:read', organization, listAll, {
    include,
    q: 'text',
    sort: 'text',
    'filter[allowed-workspaces][name]': 'text',
    'filter[allowed_workspaces][name]': 'text',
    'filter[allowed-projects][name]': 'text',
    'filter[allowed_projects][name]': 'text',
  }),
  route('POST', ofOrganization, 'agent-pool:write', organization, create, { include }),
  route('GET', ofPool, 'agent-pool:read', agentPool, (context) => single(context, context.subject), { include }),
  route('PATCH', ofPool, 'agent-pool:write', agentPool, update, { include }),
  route('DELETE', ofPool, 'agent-pool:write', agentPool, remove),
  route('GET', `${ofPool}/agents`, 'agent-pool:read', agentPool, agentsOf, {
    'filter[last-ping-since]': 'text',
    sort: 'text',
  }),
  route('GET', `${ofPool}/authentication-tokens`, 'agent-pool:write', agentPool, tokensOf),
  route('POST', `${ofPool}/authentication-tokens`, 'agent-pool:write', agentPool, createToken),
  route('GET', '/agents/{agent}', 'agent-pool:read', agent, async ({ subject }) => ok(agentDocument(subject))),
  route('DELETE', '/agents/{agent}', 'agent-pool:write', agent, removeOne),
];
