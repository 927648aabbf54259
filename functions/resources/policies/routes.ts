import { type Answer, created, ok, plainText } from '#api/answer.ts';
import { ApiError, deletedMeanwhile, nameTaken, notFound, unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { policyKinds } from '#run/policies.ts';
import { compilePolicies } from './compilation.ts';
import type { Compilation } from './content.ts';
import { policyDocument } from './document.ts';
import { isRego } from './engine/policies-file.ts';
import { policy } from './finder.ts';
import { checkOwnPolicies, readNewPolicy, readPolicyChange } from './input.ts';
import {
  createPolicy,
  deletePolicy,
  getPolicies,
  listPolicyNames,
  maxPolicyBytes,
  type Policy,
  type PolicySettings,
  readPolicy,
  storeSource,
  updatePolicy,
} from './records.ts';
import { frozen } from './run-policies.ts';
import { getPolicySets, maxRelated, type PolicySet, relate, toolVersionOf, unrelate } from './set-records.ts';

/** Individually managed policies (HCP API: policies). */

/** @throws {ApiError} 422 when the set accepts no policy of this kind, or is full */
const checkTakes = (set: PolicySet, kind: Policy['kind'], pointer: string): void => {
  checkOwnPolicies(set, pointer);
  if (set.kind !== kind) throw unprocessable(pointer, `policy-sets: ${set.name} is of kind ${set.kind}, not ${kind}`);
  if ((set.policyIds?.size ?? 0) >= maxRelated.policyIds) throw tooMany(set, pointer);
};

const tooMany = (set: PolicySet, pointer: string): ApiError =>
  unprocessable(pointer, `policy-sets: ${set.name} has the maximum number of policies`);

const addTo = async (set: PolicySet, policyId: string, pointer: string): Promise<void> => {
  if (!(await relate(set, 'policyIds', [policyId]))) throw tooMany(set, pointer);
};

/** Removed from its sets first: a set must not refer to a missing policy. */
const deleteFromSets = async (policy: Policy): Promise<void> => {
  for (const id of policy.policySetIds ?? []) await unrelate({ id }, 'policyIds', [policy.id]);
  await deletePolicy(policy);
};

const create = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const { policy: newPolicy, policySetIds } = readNewPolicy(request, subject.organization);
  const pointer = '/data/relationships/policy-sets';
  const sets = await getPolicySets(policySetIds);
  const missing = policySetIds.find(
    (id) => !sets.some((set) => set.id === id && set.organization === subject.organization),
  );
  if (missing)
    throw unprocessable(pointer, `policy-sets: ${missing.slice(0, 100)} not found in ${nameOf(subject.organization)}`);
  for (const set of sets) checkTakes(set, newPolicy.kind, pointer);
  const policy = await createPolicy(newPolicy);
  if (!policy) throw nameTaken();
  try {
    for (const set of sets) await addTo(set, policy.id, pointer);
  } catch (error) {
    await deleteFromSets({ ...policy, policySetIds: new Set(policySetIds) });
    throw error;
  }
  return created(policyDocument({ ...policy, policySetIds: new Set(policySetIds) }));
};

/** A policy in Sentinel has no query, as in HCP Terraform. 1 read if the request has one for a policy of that kind. */
const withUsedQuery = async (policy: Policy, change: Partial<PolicySettings>): Promise<Partial<PolicySettings>> => {
  if (policy.kind !== 'sentinel' || !change.query) return change;
  const source = await readPolicy(policy);
  return source === undefined || isRego(source) ? change : { ...change, query: null };
};

const update = async ({ request, subject }: Context<Policy>): Promise<Answer> => {
  const change = await withUsedQuery(subject, readPolicyChange(request, subject));
  const updated = await updatePolicy(subject, { ...change, ...(await compiledWith(subject, change)) });
  if (!updated) throw deletedMeanwhile('policy');
  return ok(policyDocument(updated));
};

/** As in HCP Terraform a policy may have any query, but here not in a set, whose next runs it would stop. */
const compiledWith = async (policy: Policy, { query }: Partial<PolicySettings>) => {
  if (!policy.contentKey || !query || query === policy.query) return {};
  const { error, uncompiled } = await compile({ ...policy, query });
  if (error === undefined) return { uncompiled };
  const reason = `query: does not compile: ${error}`;
  if (policy.policySetIds?.size) throw unprocessable('/data/attributes/query', reason);
  return { uncompiled: reason };
};

/** Any version whose Rego does not require `if` and `contains`. */
const beforeOpa1 = '0.0.0';

/** With the engine of each set that it belongs to. Without a set, in either language: its first set decides. */
const compile = async (policy: Policy): Promise<Compilation> => {
  const sets = await getPolicySets([...(policy.policySetIds ?? [])]);
  const content = { kind: policy.kind, policies: [frozen(policy)] };
  const compileFor = (toolVersion: string) => compilePolicies({ ...content, toolVersion });
  if (sets.length === 0) {
    const newer = await compileFor('');
    if (newer.error === undefined) return newer;
    const older = await compileFor(beforeOpa1);
    return older.error === undefined ? older : newer;
  }
  const results = await Promise.all([...new Set(sets.map(toolVersionOf))].map(compileFor));
  return (
    results.find(({ error }) => error !== undefined) ?? results.find(({ uncompiled }) => uncompiled !== undefined) ?? {}
  );
};

const upload = async ({ request, subject }: Context<Policy>): Promise<Answer> => {
  const source = request.text();
  const size = Buffer.byteLength(source);
  if (size > maxPolicyBytes) {
    const detail = `The policy has ${size} bytes; at most ${maxPolicyBytes} are allowed.`;
    throw new ApiError(413, [{ title: 'payload too large', detail }]);
  }
  const contentKey = await storeSource(subject, source);
  const { error, uncompiled } = await compile({ ...subject, contentKey });
  // The body is the policy, so the pointer is to the whole.
  if (error !== undefined) throw unprocessable('/', `The policy does not compile: ${error}`);
  const updated = await updatePolicy(subject, { contentKey, uncompiled });
  if (!updated) throw deletedMeanwhile('policy');
  return ok(policyDocument(updated));
};

const download = async ({ subject }: Context<Policy>): Promise<Answer> => {
  const source = await readPolicy(subject);
  if (source === undefined) throw notFound('The policy has no source yet. Upload it first.');
  return plainText(source);
};

/** Reads only the names, unless the filter or the order needs the policies themselves. */
const listOfOrganization = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const names = await listPolicyNames(subject.organization);
  const all = searched(request, names).map(({ id }) => id);
  const page = pageOf(request);
  const kind = request.query.get('filter[kind]') || undefined;
  const sort = request.query.get('sort') || 'name';
  if (kind === undefined && sort === 'name') {
    const shown = await getPolicies(pageSlice(all, page));
    return list(request, page, all.length, shown.map(policyDocument));
  }
  const fitting = (await getPolicies(all)).filter((policy) => kind === undefined || policy.kind === kind);
  if (sort.endsWith('updated-at')) fitting.sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1));
  if (sort.startsWith('-')) fitting.reverse();
  return list(request, page, fitting.length, pageSlice(fitting, page).map(policyDocument));
};

export const searched = <T extends { name: string }>({ query }: ApiRequest, all: T[]): T[] => {
  const text = (query.get('search[name]') ?? '').toLowerCase();
  return all.filter(({ name }) => name.toLowerCase().includes(text));
};

const base = '/policies/{policy}';

export const policyRoutes: Route[] = [
  route('GET', '/organizations/{organization}/policies', 'policy:read', organization, listOfOrganization, {
    'search[name]': 'text',
    'filter[kind]': { one: policyKinds },
    sort: { one: ['name', '-name', 'updated-at', '-updated-at'] },
  }),
  route('POST', '/organizations/{organization}/policies', 'policy:write', organization, create),
  route('GET', base, 'policy:read', policy, async ({ subject }) => ok(policyDocument(subject))),
  route('PATCH', base, 'policy:write', policy, update),
  route('DELETE', base, 'policy:write', policy, noContentAfter(deleteFromSets)),
  route('PUT', `${base}/upload`, 'policy:write', policy, upload),
  route('GET', `${base}/download`, 'policy:read', policy, download),
];
