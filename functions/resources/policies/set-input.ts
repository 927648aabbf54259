import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, readWhole, setting, settingsFrom, text } from '#api/validation.ts';
import { getProjects } from '#resources/projects/records.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import { checkPolicies, kind, policyName, readPolicies, toMany } from './input.ts';
import type { TagSelector } from './select-by-tags.ts';
import type { policySetAttributes } from './set-attributes.ts';
import { maxRelated, type PolicySet, type PolicySetSettings, type Related } from './set-records.ts';
import { checkScoping, tagSelectorList } from './tag-selector-input.ts';

/** Input of policy sets (HCP API: policy sets). */

const otherFields: OtherFields = {
  // Derived from global, workspaces and projects.
  shown: 'created-at policy-count project-count scoping-type unreserved-tag-keys updated-at versioned workspace-count',
  related: 'current-version newest-version organization',
};

/** Relationships of a set, by name. */
export const related = {
  policies: 'policyIds',
  workspaces: 'workspaceIds',
  projects: 'projectIds',
  'workspace-exclusions': 'workspaceExclusionIds',
  'project-exclusions': 'projectExclusionIds',
} as const satisfies Record<string, Related>;
export type Relation = keyof typeof related;
export const relations = Object.keys(related) as Relation[];

const typeOf = (relation: Relation): 'policies' | 'workspaces' | 'projects' => {
  if (relation === 'policies') return 'policies';
  return relation.startsWith('workspace') ? 'workspaces' : 'projects';
};

/** Stored as sent, because the provider compares it. */
const path = v.pipe(
  text(500),
  v.check((path) => !path.split('/').includes('..'), 'must be a path inside the archive, without ".."'),
);

const toolVersion = v.pipe(
  text(30),
  v.regex(/^(latest|v?\d+\.\d+\.\d+)$/, 'must be an exact version, e.g. 0.44.0, or latest'),
);

const settings = {
  description: setting(text(1000)),
  global: setting(v.boolean()),
  overridable: setting(v.boolean()),
  'policy-tool-version': setting(toolVersion),
  'policies-path': setting(path),
  'agent-enabled': setting(v.boolean()),
  'policy-update-patterns': setting(
    v.pipe(
      v.array(v.pipe(text(250), v.nonEmpty('must not be empty'))),
      v.maxLength(100, 'may have at most 100 patterns'),
    ),
  ),
  // Read by the version control connection.
  'vcs-repo': v.nullish(v.unknown()),
  'tag-selectors': setting(tagSelectorList),
} satisfies Record<Exclude<keyof typeof policySetAttributes, 'name' | 'kind'>, unknown>;

const defaults = { description: null, global: false, overridable: false, policyToolVersion: null, policiesPath: null };
const noPatterns = { policyUpdatePatterns: [] as string[], tagSelectors: [] as TagSelector[] };

type SettingsInput = { [name in keyof typeof settings]?: unknown };

/** Only sets of kind `sentinel` can be judged in the policy check instead. */
const agentEnabledOf = (attributes: SettingsInput, ofKind: PolicySet['kind']): { agentEnabled?: boolean } =>
  ofKind === 'sentinel' && typeof attributes['agent-enabled'] === 'boolean'
    ? { agentEnabled: attributes['agent-enabled'] }
    : {};

/** As in HCP Terraform, a set that returns to the policy check leaves the version of its evaluation behind. */
const leftVersion = (set: PolicySet, { agentEnabled }: { agentEnabled?: boolean }) =>
  set.agentEnabled && agentEnabled === false ? { policyToolVersion: null } : {};

const settingsOf = (attributes: Record<string, unknown>): Partial<PolicySetSettings> =>
  settingsFrom(attributes, { name: '', ...defaults, ...noPatterns });

export interface Targets {
  relation: Relation;
  ids: string[];
}

const relationships = {
  policies: v.optional(toMany('policies', maxRelated.policyIds)),
  workspaces: v.optional(toMany('workspaces', maxRelated.workspaceIds)),
  projects: v.optional(toMany('projects', maxRelated.projectIds)),
  'workspace-exclusions': v.optional(toMany('workspaces', maxRelated.workspaceExclusionIds)),
  'project-exclusions': v.optional(toMany('projects', maxRelated.projectExclusionIds)),
};

/** Targets must be in the set's organization. */
const checkTargets = async (set: PolicySet, { relation, ids }: Targets, pointer: string): Promise<void> => {
  const type = typeOf(relation);
  if (type === 'policies') return checkPolicies(set, ids, pointer);
  const targets: { id: string; organization: string }[] =
    type === 'workspaces' ? await getWorkspaces(ids) : await getProjects(ids);
  const existing = new Set(targets.filter((target) => target.organization === set.organization).map(({ id }) => id));
  const missing = ids.find((id) => !existing.has(id));
  if (missing !== undefined) {
    throw unprocessable(
      pointer,
      `${relation}: ${missing.slice(0, 100)} not found in organization ${nameOf(set.organization)}`,
    );
  }
};

const withoutPolicies = () =>
  unprocessable(
    '/data/relationships/policies',
    'policies: a policy set with vcs-repo takes its policies from the repository. Leave out one of them',
  );

/** @throws {ApiError} 400 or 422 */
export const readNewPolicySet = async (request: ApiRequest, organization: string) => {
  const { attributes, relationships: linkages } = readData(
    request,
    { ...settings, name: policyName, kind },
    relationships,
    otherFields,
  );
  const policySet = {
    ...defaults,
    ...settingsOf(attributes),
    ...agentEnabledOf(attributes, attributes.kind),
    name: attributes.name,
    kind: attributes.kind,
    organization,
  };
  const targets = relations.flatMap((relation): Targets[] => {
    const ids = linkages[relation]?.data.map(({ id }) => id);
    return ids ? [{ relation, ids: [...new Set(ids)] }] : [];
  });
  if (attributes['vcs-repo'] && targets.some(({ relation, ids }) => relation === 'policies' && ids.length > 0)) {
    throw withoutPolicies();
  }
  for (const target of targets) {
    await checkTargets(policySet as unknown as PolicySet, target, `/data/relationships/${target.relation}`);
  }
  if (policySet.tagSelectors?.length) {
    const idsOf = (name: Related) => new Set(targets.find(({ relation }) => related[relation] === name)?.ids);
    checkScoping(
      {
        global: policySet.global,
        workspaceIds: idsOf('workspaceIds'),
        projectIds: idsOf('projectIds'),
        workspaceExclusionIds: idsOf('workspaceExclusionIds'),
        projectExclusionIds: idsOf('projectExclusionIds'),
      },
      policySet.tagSelectors,
      '/data/attributes/tag-selectors',
    );
  }
  return { settings: policySet, targets };
};

/** Unchanged relationships are accepted: clients send whole documents back. @throws {ApiError} 422 */
const checkRelated = (set: PolicySet, linkages: Partial<Record<Relation, { data: { id: string }[] }>>): void => {
  for (const relation of relations) {
    const ids = linkages[relation]?.data.map(({ id }) => id);
    const current: ReadonlySet<string> = set[related[relation]] ?? new Set();
    if (!ids || (ids.every((id) => current.has(id)) && new Set(ids).size === current.size)) continue;
    throw unprocessable(
      `/data/relationships/${relation}`,
      `${relation}: cannot be changed here; add with POST and remove with DELETE policy-sets/${set.id}/relationships/${relation}`,
    );
  }
};

/** @throws {ApiError} 400 or 422 */
export const readPolicySetChange = (request: ApiRequest, set: PolicySet): Partial<PolicySetSettings> => {
  const ofKind = v.optional(v.literal(set.kind, `is ${set.kind} and cannot be changed; create another policy set`));
  const entries = { ...settings, name: v.optional(policyName), kind: ofKind };
  const { attributes, relationships: related } = readData(request, entries, relationships, otherFields);
  checkRelated(set, related);
  if (attributes['vcs-repo'] && set.policyIds?.size) throw withoutPolicies();
  const agentEnabled = agentEnabledOf(attributes, set.kind);
  const change = { ...leftVersion(set, agentEnabled), ...settingsOf(attributes), ...agentEnabled };
  const after = { ...set, ...change };
  if (after.tagSelectors?.length) {
    const field = change.global ? 'global' : 'tag-selectors';
    checkScoping(after, after.tagSelectors, `/data/attributes/${field}`);
  }
  return change;
};

/** The ids in a body that adds or removes related resources. @throws {ApiError} 400 or 422 */
export const readRelated = async (request: ApiRequest, set: PolicySet, relation: Relation, adds: boolean) => {
  const read =
    relation === 'policies'
      ? readPolicies(request)
      : readWhole(request, toMany(typeOf(relation), maxRelated[related[relation]])).data.map(({ id }) => id);
  const ids = [...new Set(read)];
  if (adds && relation === 'policies' && set.vcsRepo) throw withoutPolicies();
  if (adds && relation !== 'policies' && ids.length > 0 && set.tagSelectors?.length) {
    throw unprocessable(
      '/data',
      `${relation}: policy set ${set.name} applies by tag selectors. Remove those first, with DELETE policy-sets/${set.id}/tag-selectors`,
    );
  }
  if (adds) await checkTargets(set, { relation, ids }, '/data');
  return ids;
};
