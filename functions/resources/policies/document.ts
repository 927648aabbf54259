import { many, one } from '#api/answer.ts';
import type { Variable } from '#resources/variables/records.ts';
import { vcsRepoDocument } from '#resources/workspaces/document.ts';
import { isEvaluated } from '#run/policies.ts';
import type { Policy } from './records.ts';
import type { PolicySet } from './set-records.ts';
import type { PolicySetVersion } from './set-version-records.ts';
import { tagSelectorDocument } from './tag-selector-input.ts';

const ids = (set: Set<string> | undefined): string[] => [...(set ?? [])].sort();

export const policyDocument = (policy: Policy) => ({
  id: policy.id,
  type: 'policies',
  attributes: {
    name: policy.name,
    description: policy.description,
    kind: policy.kind,
    query: policy.query,
    'enforcement-level': policy.enforcementLevel,
    // Null before the policy file is uploaded (HCP API).
    enforce: policy.contentKey
      ? [{ path: `${policy.name}.${policy.kind === 'opa' ? 'rego' : 'sentinel'}`, mode: policy.enforcementLevel }]
      : [],
    // Null if it compiles.
    'uncompiled-reason': policy.uncompiled ?? null,
    'policy-set-count': policy.policySetIds?.size ?? 0,
    'updated-at': policy.updatedAt,
  },
  relationships: {
    organization: one('organizations', policy.organization),
    'policy-sets': many('policy-sets', ids(policy.policySetIds)),
  },
  links: {
    self: `/api/v2/policies/${policy.id}`,
    upload: `/api/v2/policies/${policy.id}/upload`,
    ...(policy.contentKey ? { download: `/api/v2/policies/${policy.id}/download` } : {}),
  },
});

/** @param unreservedTagKeys of its selectors; absent when not loaded */
export const policySetDocument = (set: PolicySet, unreservedTagKeys?: string[]) => {
  const versioned = set.newestVersionId !== undefined;
  return {
    id: set.id,
    type: 'policy-sets',
    attributes: {
      name: set.name,
      description: set.description,
      kind: set.kind,
      global: set.global,
      // In the policy check, the levels of the policies decide.
      overridable: isEvaluated(set) ? set.overridable : null,
      versioned,
      // HCP Terraform's term for policies that are evaluated in a task stage (HCP API: policy sets).
      'agent-enabled': isEvaluated(set),
      'policy-tool-version': set.policyToolVersion,
      'policies-path': set.policiesPath,
      'policy-count': versioned ? (set.currentPolicyCount ?? 0) : (set.policyIds?.size ?? 0),
      'workspace-count': set.workspaceIds?.size ?? 0,
      'project-count': set.projectIds?.size ?? 0,
      'vcs-repo': vcsRepoDocument(set.vcsRepo),
      'policy-update-patterns': set.policyUpdatePatterns ?? [],
      'tag-selectors': (set.tagSelectors ?? []).map(tagSelectorDocument),
      ...(unreservedTagKeys === undefined ? {} : { 'unreserved-tag-keys': unreservedTagKeys }),
      'scoping-type': set.tagSelectors?.length ? 'tag' : 'explicit',
      'created-at': set.createdAt,
      'updated-at': set.updatedAt,
    },
    relationships: {
      organization: one('organizations', set.organization),
      policies: many('policies', ids(set.policyIds)),
      workspaces: many('workspaces', ids(set.workspaceIds)),
      projects: many('projects', ids(set.projectIds)),
      'workspace-exclusions': many('workspaces', ids(set.workspaceExclusionIds)),
      'project-exclusions': many('projects', ids(set.projectExclusionIds)),
      'current-version': one('policy-set-versions', set.currentVersionId),
      'newest-version': one('policy-set-versions', set.newestVersionId),
    },
    links: { self: `/api/v2/policy-sets/${set.id}` },
  };
};

/** `uploadUrl` is present only while an upload is expected. */
export const policySetVersionDocument = (version: PolicySetVersion, uploadUrl?: string) => ({
  id: version.id,
  type: 'policy-set-versions',
  attributes: {
    source: version.source ?? 'tfe-api',
    status: version.status,
    'status-timestamps': version.statusTimestamps,
    error: version.errorMessage === undefined ? null : 'invalid policy set',
    'error-message': version.errorMessage ?? null,
    'uncompiled-reason': version.uncompiled ?? null,
    'ingress-attributes': version.ingress
      ? {
          'commit-sha': version.ingress.commitSha,
          'commit-url': version.ingress.commitUrl,
          identifier: version.ingress.identifier,
        }
      : null,
    'created-at': version.createdAt,
    'updated-at': version.updatedAt,
  },
  relationships: { 'policy-set': one('policy-sets', version.policySetId) },
  links: {
    self: `/api/v2/policy-set-versions/${version.id}`,
    ...(uploadUrl === undefined ? {} : { upload: uploadUrl }),
  },
});

export const parameterDocument = (parameter: Variable) => ({
  id: parameter.id,
  type: 'vars',
  attributes: {
    key: parameter.key,
    value: parameter.sensitive ? null : (parameter.value ?? ''),
    sensitive: parameter.sensitive,
    category: parameter.category,
    hcl: parameter.hcl,
    description: parameter.description,
    'created-at': parameter.createdAt,
    'version-id': parameter.versionId,
  },
  relationships: { configurable: one('policy-sets', parameter.ownerId) },
  links: { self: `/api/v2/policy-sets/${parameter.ownerId}/parameters/${parameter.id}` },
});
