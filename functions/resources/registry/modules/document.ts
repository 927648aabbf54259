import { many, one } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { Granted } from '#api/permissions/granted.ts';
import { vcsRepoDocument } from '#resources/workspaces/document.ts';
import { shownNamespace } from '../names.ts';
import type { Module, ModuleVersion, Published } from './records.ts';

type Status = 'pending' | 'setup_complete' | 'setup_failed';

const statusOf = ({ module, versions }: Published): Status => {
  if (module.registry === 'public' || versions.some(({ status }) => status === 'ok')) return 'setup_complete';
  const failed = ['reg_ingress_failed', 'clone_failed'];
  const all = versions.length > 0 && versions.every(({ status }) => failed.includes(status));
  return all ? 'setup_failed' : 'pending';
};

/** Left out for modules without a repository, because clients read its fields if it is present. */
const vcsRepoOf = ({ vcsRepo, tagPrefix = '', sourceDirectory = '' }: Module) => {
  const document = vcsRepoDocument(vcsRepo);
  if (!document) return {};
  return {
    'vcs-repo': { ...document, tags: true, 'tag-prefix': tagPrefix, 'source-directory': sourceDirectory },
  };
};

const testConfigOf = ({ id, tests }: Module) =>
  tests
    ? {
        id: id.replace(/^mod-/, 'tconf-'),
        'tests-enabled': tests.enabled,
        'agent-execution-mode': 'remote',
        'agent-pool-id': null,
        'agent-pool-name': null,
      }
    : null;

/** HCP API: registry modules. */
export const moduleDocument = ({ module, versions }: Published, granted: Granted) => {
  const { id, organization, registry, name, provider, createdAt, updatedAt } = module;
  const write = granted.has('registry:write-modules');
  return {
    id,
    type: 'registry-modules',
    attributes: {
      name,
      namespace: shownNamespace(module),
      provider,
      'registry-name': registry,
      status: statusOf({ module, versions }),
      'publishing-mechanism': module.vcsRepo ? 'git_tag' : 'non_vcs',
      'no-code': module.noCode?.enabled ?? false,
      'version-statuses': versions.map(({ version, status, error }) => ({ version, status, error })),
      ...vcsRepoOf(module),
      'test-config': testConfigOf(module),
      permissions: { 'can-delete': write, 'can-resync': write, 'can-retry': write },
      'created-at': createdAt,
      'updated-at': updatedAt,
    },
    relationships: {
      organization: one('organizations', organization),
      'no-code-modules': many('no-code-modules', module.noCode ? [module.noCode.id] : []),
      'tag-bindings': { links: { related: `/api/v2/registry-modules/${id}/tag-bindings` } },
    },
    links: {
      self: `/api/v2/organizations/${nameOf(organization)}/registry-modules/${registry}/${shownNamespace(module)}/${name}/${provider}`,
    },
  };
};

/** @param upload absent once no upload is awaited */
export const moduleVersionDocument = (version: ModuleVersion, upload?: string) => ({
  id: version.id,
  type: 'registry-module-versions',
  attributes: {
    source: 'tfe-api',
    status: version.status,
    version: version.version,
    'commit-sha': version.commitSha ?? null,
    error: version.error ?? '',
    deprecation: version.deprecation
      ? { 'deprecated-status': 'Deprecated', ...version.deprecation }
      : { 'deprecated-status': 'Undeprecated', reason: null, link: null },
    'created-at': version.createdAt,
    'updated-at': version.updatedAt,
  },
  relationships: { 'registry-module': one('registry-modules', version.moduleId) },
  ...(upload === undefined ? {} : { links: { upload } }),
});

/** One entry of a list of addresses. */
export const addressOf = (module: Module): string => `${shownNamespace(module)}/${module.name}/${module.provider}`;
