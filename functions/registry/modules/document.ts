import { many, one } from '../../api/answer.ts';
import type { Granted } from '../../api/permissions/granted.ts';
import type { Module, ModuleVersion, Published } from './records.ts';

type Status = 'pending' | 'setup_complete' | 'setup_failed';

const statusOf = ({ module, versions }: Published): Status => {
  if (module.registry === 'public' || versions.some(({ status }) => status === 'ok')) return 'setup_complete';
  const all = versions.length > 0 && versions.every(({ status }) => status === 'reg_ingress_failed');
  return all ? 'setup_failed' : 'pending';
};

/** HCP API: registry modules. */
export const moduleDocument = ({ module, versions }: Published, granted: Granted) => {
  const { id, organization, registry, namespace, name, provider, createdAt, updatedAt } = module;
  const write = granted.has('registry:write-modules');
  return {
    id,
    type: 'registry-modules',
    attributes: {
      name,
      namespace,
      provider,
      'registry-name': registry,
      status: statusOf({ module, versions }),
      'publishing-mechanism': 'non_vcs',
      'no-code': false,
      'version-statuses': versions.map(({ version, status, error }) => ({
        version,
        status,
        ...(error ? { error } : {}),
      })),
      'vcs-repo': null,
      'test-config': null,
      permissions: { 'can-delete': write, 'can-resync': write, 'can-retry': write },
      'created-at': createdAt,
      'updated-at': updatedAt,
    },
    relationships: { organization: one('organizations', organization), 'no-code-modules': many('no-code-modules', []) },
    links: {
      self: `/api/v2/organizations/${organization}/registry-modules/${registry}/${namespace}/${name}/${provider}`,
    },
  };
};

/** @param upload missing once nothing is awaited */
export const moduleVersionDocument = (found: ModuleVersion, upload?: string) => ({
  id: found.id,
  type: 'registry-module-versions',
  attributes: {
    source: 'tfe-api',
    status: found.status,
    version: found.version,
    'commit-sha': found.commitSha ?? null,
    error: found.error ?? '',
    deprecation: found.deprecation
      ? { 'deprecated-status': 'Deprecated', ...found.deprecation }
      : { 'deprecated-status': 'Undeprecated', reason: null, link: null },
    'created-at': found.createdAt,
    'updated-at': found.updatedAt,
  },
  relationships: { 'registry-module': one('registry-modules', found.moduleId) },
  ...(upload === undefined ? {} : { links: { upload } }),
});

/** One entry of a list of addresses. */
export const addressOf = ({ namespace, name, provider }: Module): string => `${namespace}/${name}/${provider}`;
