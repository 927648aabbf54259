import { createHash } from 'node:crypto';
import type { Answer, Resource } from '#api/answer.ts';
import { badRequest } from '#api/errors.ts';
import { pageFrom } from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { StateInstance } from './content.ts';
import { getStateVersion, readSummary } from './records.ts';

/** Resources in a workspace's current state (HCP API: workspaces, resources). */

const document = (workspaceId: string, instance: StateInstance): Resource => ({
  id: `wsr-${createHash('sha256').update(`${workspaceId}\n${instance.address}`).digest('hex').slice(0, 16)}`,
  type: 'resources',
  attributes: {
    // Without "module.", as HCP Terraform lists them; "root" is its name for the root module.
    address: instance.address.replaceAll(/(^|\.)module\./g, '$1'),
    name: instance.name,
    // Null for resources older than this attribute.
    'created-at': instance.createdAt ?? null,
    'updated-at': instance.changes?.[0]?.at ?? null,
    module: instance.module.replace(/^root\./, ''),
    provider: instance.provider,
    'provider-type': instance.type,
    'modified-by-state-version-id': instance.changes?.[0]?.version ?? null,
    'name-index': instance.index === undefined ? null : String(instance.index),
    'full-address': instance.address,
    'depends-on': instance.dependencies ?? [],
    tainted: instance.tainted ?? false,
    changes: (instance.changes ?? []).map(({ version, at, run }) => ({
      'state-version-id': version,
      'run-id': run ?? null,
      'created-at': at,
    })),
  },
});

const keys: Record<string, (instance: StateInstance) => string> = {
  name: ({ name }) => name,
  nameIndex: ({ index }) => (typeof index === 'number' ? String(index).padStart(12, '0') : (index ?? '')),
  provider: ({ provider }) => provider,
  providerType: ({ type }) => type,
  module: ({ module }) => module,
  updatedAt: ({ changes }) => changes?.[0]?.at ?? '',
};

const sorted = (instances: StateInstance[], { query }: ApiRequest): StateInstance[] => {
  const [field = '', order = 'asc'] = (query.get('sort') || 'name:asc').split(':');
  const key = Object.hasOwn(keys, field) ? keys[field] : undefined;
  if (!key || (order !== 'asc' && order !== 'desc')) {
    throw badRequest(`sort must be one of ${Object.keys(keys).join(', ')}, with ":asc" or ":desc".`, 'sort');
  }
  const by = (instance: StateInstance) => `${key(instance)}\n${instance.address}`;
  const rising = instances.map((instance) => ({ instance, by: by(instance) }));
  rising.sort((a, b) => (a.by < b.by ? -1 : 1));
  return (order === 'asc' ? rising : rising.reverse()).map(({ instance }) => instance);
};

/** 1 read and 1 object for any number of resources. */
const listOfWorkspace = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const version = subject.state && (await getStateVersion(subject.state.id));
  const all = (version && (await readSummary(version)))?.instances ?? [];
  const search = (request.query.get('q') ?? '').toLowerCase();
  const fitting = sorted(
    all.filter(({ address }) => address.toLowerCase().includes(search)),
    request,
  );
  return pageFrom(request, fitting, (instance) => document(subject.id, instance));
};

export const workspaceResourceRoutes: Route[] = [
  route('GET', '/workspaces/{workspace}/resources', 'state:read', workspace, listOfWorkspace, {
    q: 'text',
    sort: 'text',
  }),
];
