import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData, readWhole, setting, text } from '#api/validation.ts';
import { getProjects } from '#resources/projects/records.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import { type ProviderConfiguration, providerConfigurationOf } from './configuration.ts';
import { maxTargets, type ProviderSet, type ProviderSetSettings, type Targets } from './records.ts';

/** Input of provider sets (HCP API: provider sets). */

const otherFields: OtherFields = { shown: 'created-at updated-at', related: 'organization' };

const name = v.pipe(
  text(90),
  v.regex(/^[^\s/]([^/]*[^\s/])?$/, 'must not be empty, contain "/", or begin or end with a space'),
);

const source = v.pipe(
  text(250),
  v.regex(
    /^(?:[A-Za-z0-9.-]+(?::\d+)?\/)?[A-Za-z0-9-]+\/[A-Za-z0-9-]+$/,
    'must be like hashicorp/aws or registry.terraform.io/hashicorp/aws',
  ),
  v.transform((source) => (source.split('/').length === 2 ? `registry.terraform.io/${source}` : source).toLowerCase()),
);

const configuration = v.pipe(
  text(32_768),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const content = providerConfigurationOf(dataset.value);
    if ('fault' in content) addIssue({ message: content.fault });
  }),
);

const settings = {
  description: setting(text(512)),
  global: setting(v.boolean()),
  priority: setting(v.boolean()),
};

const kinds = { workspaces: 'workspaceIds', projects: 'projectIds' } as const satisfies Record<string, Targets>;
export type Kind = keyof typeof kinds;
export const targetsOf = (kind: Kind): Targets => kinds[kind];

const toMany = (kind: Kind) =>
  v.object({ data: v.pipe(v.array(identifier(kind)), v.maxLength(maxTargets, `may have at most ${maxTargets}`)) });

const relationships = { workspaces: v.optional(toMany('workspaces')), projects: v.optional(toMany('projects')) };

/** Clients match the words "Invalid Workspaces" and "Invalid Projects". @throws {ApiError} 422 */
const checkTargets = async (organization: string, kind: Kind, ids: string[], pointer: string): Promise<void> => {
  const records: { id: string; organization: string }[] =
    kind === 'workspaces' ? await getWorkspaces(ids) : await getProjects(ids);
  const missing = ids.find((id) => !records.some((record) => record.id === id && record.organization === organization));
  if (missing === undefined) return;
  const words = kind === 'workspaces' ? 'Invalid Workspaces' : 'Invalid Projects';
  throw unprocessable(pointer, `${words}: ${missing.slice(0, 100)} not found in ${nameOf(organization)}`);
};

const globalOrSome = (kind: string) =>
  unprocessable(`/data/relationships/${kind}`, `${kind}: a global provider set applies to every workspace already`);

type Related = { [K in Kind]?: { data: { id: string }[] } | undefined };

/** The text must have been validated. */
const contentOf = (configurationHcl: string): Pick<ProviderSetSettings, 'configurationHcl' | 'content'> => ({
  configurationHcl,
  content: providerConfigurationOf(configurationHcl) as ProviderConfiguration,
});

/** @throws {ApiError} 422 */
const readRelated = async (organization: string, global: boolean, related: Related) => {
  const targets: Partial<Record<Targets, string[]>> = {};
  for (const kind of Object.keys(kinds) as Kind[]) {
    const ids = related[kind]?.data.map(({ id }) => id);
    if (!ids) continue;
    if (global && ids.length > 0) throw globalOrSome(kind);
    await checkTargets(organization, kind, ids, `/data/relationships/${kind}`);
    targets[kinds[kind]] = [...new Set(ids)];
  }
  return targets;
};

/** @throws {ApiError} 400 or 422 */
export const readNewProviderSet = async (request: ApiRequest, organization: string) => {
  const required = { name, 'provider-source': source, 'configuration-hcl': configuration };
  const { attributes, relationships: related } = readData(
    request,
    { ...settings, ...required },
    relationships,
    otherFields,
  );
  const global = attributes.global ?? false;
  return {
    name: attributes.name,
    description: attributes.description ?? null,
    global,
    priority: attributes.priority ?? false,
    providerSource: attributes['provider-source'],
    ...contentOf(attributes['configuration-hcl']),
    ...(await readRelated(organization, global, related)),
  };
};

/** Clients of the API's beta version use underscores in two names. @throws {ApiError} 400 or 422 */
export const readProviderSetChange = async (request: ApiRequest, set: ProviderSet) => {
  const changeable = {
    name: v.optional(name),
    'provider-source': v.optional(source),
    provider_source: v.optional(source),
    'configuration-hcl': v.optional(configuration),
    configuration_hcl: v.optional(configuration),
  };
  const { attributes, relationships: related } = readData(
    request,
    { ...settings, ...changeable },
    relationships,
    otherFields,
  );
  const { description, global, priority } = attributes;
  const configurationHcl = attributes['configuration-hcl'] ?? attributes.configuration_hcl;
  const change: Partial<ProviderSetSettings> = {
    name: attributes.name,
    description,
    global: global === null ? false : global,
    priority: priority === null ? false : priority,
    providerSource: attributes['provider-source'] ?? attributes.provider_source,
    ...(configurationHcl === undefined ? {} : contentOf(configurationHcl)),
  };
  const values = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return { ...values, ...(await readRelated(set.organization, change.global ?? set.global, related)) };
};

/** @throws {ApiError} 400 or 422 */
export const readTargets = async (request: ApiRequest, set: ProviderSet, kind: Kind, adds: boolean) => {
  const ids = [...new Set(readWhole(request, toMany(kind)).data.map(({ id }) => id))];
  if (adds && set.global) {
    throw unprocessable('/data', `${kind}: a global provider set applies to every workspace already`);
  }
  if (adds) await checkTargets(set.organization, kind, ids, '/data');
  return ids;
};

/** Ids of provider sets. @throws {ApiError} 400 or 422 */
export const readSetIds = (request: ApiRequest): string[] => {
  const list = v.object({
    data: v.pipe(v.array(identifier('provider-sets')), v.maxLength(100, 'may have at most 100')),
  });
  return [...new Set(readWhole(request, list).data.map(({ id }) => id))];
};
