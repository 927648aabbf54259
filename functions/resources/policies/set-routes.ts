import { type Answer, created, noContent, ok, type Resource } from '#api/answer.ts';
import { deletedMeanwhile, nameTaken, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import { flag } from '#api/query-parameters.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Route, route, type Subject } from '#api/route.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { projectDocuments } from '#resources/projects/document.ts';
import { getProjects } from '#resources/projects/records.ts';
import { listReservedTagKeys } from '#resources/tags/reserved-keys/records.ts';
import { workspaceDocuments } from '#resources/workspaces/document.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import { policyKinds } from '#run/policies.ts';
import { compilePolicies } from './compilation.ts';
import { policyDocument, policySetDocument, policySetVersionDocument } from './document.ts';
import { policySet } from './finder.ts';
import { getPolicies } from './records.ts';
import { searched } from './routes.ts';
import { checkEngine, checkPolicies } from './set-compilation.ts';
import {
  type Relation,
  readNewPolicySet,
  readPolicySetChange,
  readRelated,
  related,
  relations,
  type Targets,
} from './set-input.ts';
import {
  createPolicySet,
  deletePolicySet,
  getPolicySet,
  getPolicySets,
  listPolicySetNames,
  maxRelated,
  type PolicySet,
  relate,
  unrelate,
  updatePolicySet,
} from './set-records.ts';
import { getPolicySetVersion, withNewestVersion } from './set-version-records.ts';

/** Policy sets and their scope (HCP API: policy sets). */

const add = async (set: PolicySet, { relation, ids }: Targets, pointer: string): Promise<PolicySet> => {
  const changed = await relate(set, related[relation], ids);
  if (changed) return changed;
  throw unprocessable(pointer, `${relation}: a policy set has at most ${maxRelated[related[relation]]}`);
};

/** Connects policy sets to repositories (version-control/policy-set-repo.ts). */
export interface SetConnecting<P> {
  /** Checks the request without writing anything. @throws {ApiError} 422 */
  prepare(request: ApiRequest, organization: string, current?: PolicySet): Promise<P | undefined>;
  /** @throws {ApiError} 422 */
  connect(prepared: P, setId: string): Promise<PolicySet['vcsRepo']>;
  /** Undoes the connection of a failed change. */
  abandon(set: PolicySet, requested: PolicySet['vcsRepo']): Promise<void>;
  /** Fetches the commit of a newly followed branch. */
  settle(before: PolicySet | undefined, after: PolicySet): Promise<void>;
  leave(set: PolicySet): Promise<void>;
}

/**
 * Tag keys of the set's selectors that workspaces may override: users who can tag a workspace can take it out of the
 * set. 1 query, and only with selectors.
 */
const unreservedKeys = async ({ organization, tagSelectors = [] }: PolicySet): Promise<string[] | undefined> => {
  if (tagSelectors.length === 0) return undefined;
  const reserved = (await listReservedTagKeys(organization)).filter(({ disableOverrides }) => disableOverrides);
  const keys = [...new Set(tagSelectors.map(({ key }) => key))];
  return keys.filter((key) => !reserved.some((one) => one.key === key));
};

const shown = async (set: PolicySet) => policySetDocument(set, await unreservedKeys(set));

/** A policy set that cannot be connected to its repository is not created. */
const connectNew = async <P>(
  connecting: SetConnecting<P>,
  prepared: P,
  set: PolicySet,
  userId: string,
): Promise<PolicySet> => {
  let vcsRepo: PolicySet['vcsRepo'];
  try {
    vcsRepo = await connecting.connect(prepared, set.id);
    const connected = await updatePolicySet(set, { vcsRepo }, { userId });
    if (!connected) throw deletedMeanwhile('policy set');
    await connecting.settle(undefined, connected);
    return (await getPolicySet(set.id)) ?? connected;
  } catch (error) {
    await connecting.abandon(set, vcsRepo);
    await deletePolicySet(set);
    throw error;
  }
};

const create =
  <P>(connecting: SetConnecting<P>) =>
  async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
    const { settings, targets } = await readNewPolicySet(request, subject.organization);
    const policies = targets.flatMap(({ relation, ids }) => (relation === 'policies' ? ids : []));
    await checkPolicies(settings, await getPolicies(policies), '/data/relationships/policies');
    const prepared = await connecting.prepare(request, subject.organization);
    let set = await createPolicySet(settings);
    if (!set) throw nameTaken();
    if (prepared) set = await connectNew(connecting, prepared, set, principal.userId);
    for (const target of targets) set = await add(set, target, `/data/relationships/${target.relation}`);
    return created(await shown(set));
  };

const update =
  <P>(connecting: SetConnecting<P>) =>
  async (context: Context<PolicySet>): Promise<Answer> => {
    const { request, subject } = context;
    const change = readPolicySetChange(request, subject);
    await checkEngine(subject, { ...subject, ...change }, '/data/attributes/policy-tool-version');
    const editor = await editorOf(context, subject, 'policy set');
    const prepared = await connecting.prepare(request, subject.organization, subject);
    const vcsRepo = prepared ? await connecting.connect(prepared, subject.id) : undefined;
    const updated = await updatePolicySet(subject, prepared ? { ...change, vcsRepo } : change, editor);
    if (updated) {
      await connecting.settle(subject, updated);
      const after = updated.vcsRepo ? ((await getPolicySet(subject.id)) ?? updated) : updated;
      return withEtag(ok(await shown(after)), after);
    }
    await connecting.abandon(subject, vcsRepo);
    throw await refusedChange(request, 'policy set', await getPolicySet(subject.id), nameTaken());
  };

/** Idempotent. */
const change = (relation: Relation, adds: boolean) => async (context: Context<PolicySet>) => {
  const { request, subject } = context;
  const ids = await readRelated(request, subject, relation, adds);
  if (adds && relation === 'policies') await checkPolicies(subject, await getPolicies(ids), '/data');
  if (adds) await add(subject, { relation, ids }, '/data');
  else await unrelate(subject, related[relation], ids);
  return noContent();
};

const include = includable(
  'policies',
  'workspaces',
  'projects',
  'current_version',
  'newest_version',
  'workspace_exclusions',
  'project_exclusions',
);
/** Maximum number of included resources. */
const maxIncluded = 100;

const included = async (
  { request, principal }: Context<Subject>,
  sets: PolicySet[],
): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  const readIncluded = (
    name: (typeof include.paths)[number],
    of: (set: PolicySet) => Iterable<string | undefined>,
  ): string[] =>
    includes.has(name) ? [...new Set(sets.flatMap((set) => [...of(set)]))].filter((id) => id !== undefined) : [];
  const distinct = (...of: string[][]): string[] => [...new Set(of.flat())].slice(0, maxIncluded);
  const [policies, workspaces, projects, versions] = await Promise.all([
    getPolicies(distinct(readIncluded('policies', (set) => set.policyIds ?? []))),
    getWorkspaces(
      distinct(
        readIncluded('workspaces', (set) => set.workspaceIds ?? []),
        readIncluded('workspace_exclusions', (set) => set.workspaceExclusionIds ?? []),
      ),
    ),
    getProjects(
      distinct(
        readIncluded('projects', (set) => set.projectIds ?? []),
        readIncluded('project_exclusions', (set) => set.projectExclusionIds ?? []),
      ),
    ),
    Promise.all(
      distinct(
        readIncluded('current_version', (set) => [set.currentVersionId]),
        readIncluded('newest_version', (set) => [set.newestVersionId]),
      ).map(getPolicySetVersion),
    ),
  ]);
  return [
    ...policies.map(policyDocument),
    ...(await workspaceDocuments(principal, workspaces)),
    ...(await projectDocuments(principal, projects)),
    ...versions.flatMap((version) => (version ? [policySetVersionDocument(version)] : [])),
  ];
};

const read = async (context: Context<PolicySet>): Promise<Answer> => {
  const set = await withNewestVersion(context.subject, compilePolicies);
  return withEtag(ok(await shown(set), await included(context, [set])), set);
};

/** Reads only the names, unless a filter needs the sets themselves. */
const listOfOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const all = searched(request, await listPolicySetNames(subject.organization)).map(({ id }) => id);
  const page = pageOf(request);
  const kind = request.query.get('filter[kind]') || null;
  const versioned = request.query.get('filter[versioned]') || null;
  const filtered = kind !== null || versioned !== null;
  const fitting = filtered
    ? (await getPolicySets(all)).filter(
        (set) =>
          (kind === null || set.kind === kind) &&
          (versioned === null || (set.newestVersionId !== undefined) === (versioned === 'true')),
      )
    : [];
  const sets = filtered ? pageSlice(fitting, page) : await getPolicySets(pageSlice(all, page));
  const total = filtered ? fitting.length : all.length;
  const documents = sets.map((set) => policySetDocument(set));
  return list(request, page, total, documents, await included(context, sets));
};

const base = '/policy-sets/{policySet}';

export const policySetRoutes = <P>(connecting: SetConnecting<P>): Route[] => [
  route('GET', '/organizations/{organization}/policy-sets', 'policy:read', organization, listOfOrganization, {
    include,
    'search[name]': 'text',
    'filter[kind]': { one: policyKinds },
    'filter[versioned]': flag,
  }),
  route('POST', '/organizations/{organization}/policy-sets', 'policy:write', organization, create(connecting), {
    include,
  }),
  route('GET', base, 'policy:read', policySet, read, { include }),
  route('PATCH', base, 'policy:write', policySet, update(connecting), { include }),
  route('DELETE', base, 'policy:write', policySet, async ({ subject }) => {
    await deletePolicySet(subject);
    await connecting.leave(subject);
    return noContent();
  }),
  ...relations.flatMap((relation): Route[] => [
    route('POST', `${base}/relationships/${relation}`, 'policy:write', policySet, change(relation, true)),
    route('DELETE', `${base}/relationships/${relation}`, 'policy:write', policySet, change(relation, false)),
  ]),
];
