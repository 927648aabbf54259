import { ApiError, type Resource } from '#clients/client/client.ts';
import type { ModulePlace } from '#clients/client/page-addresses.ts';
import { base } from '#clients/web/location.ts';
import { authorization, call, get } from '#clients/web/session.ts';
import type { ModuleContent } from '#resources/registry/modules/content.ts';

/** Requests about registry modules, to the API and the module registry protocol. */

/** Organization and address of a module. */
export interface ModuleAddress extends ModulePlace {
  organization: string;
}

const joined = (...parts: string[]): string => parts.map((part) => `/${encodeURIComponent(part)}`).join('');

export const apiPath = ({ organization, registry, namespace, name, provider }: ModuleAddress): string =>
  `/organizations${joined(organization)}/registry-modules${joined(registry, namespace, name, provider)}`;

/** API path of its tests. */
export const testsPath = ({ organization, registry, namespace, name, provider }: ModuleAddress): string =>
  `/organizations${joined(organization)}/tests/registry-modules${joined(registry, namespace, name, provider)}`;

interface Deprecation {
  reason: string;
  link: string;
}

export interface Details {
  version: string;
  published_at: string;
  root: ModuleContent;
  submodules: ModuleContent[];
  examples: ModuleContent[];
  deprecation: Deprecation | null;
}

const ofProtocol = async (address: ModuleAddress, rest: string): Promise<Response> => {
  const path = `/api/registry/v1/modules${joined(address.namespace, address.name, address.provider)}${rest}`;
  const response = await fetch(`${base}${path}`, { headers: authorization(), referrerPolicy: 'no-referrer' });
  if (!response.ok) throw new ApiError('GET', path, response.status, await response.text());
  return response;
};

/** Defaults to the newest version; undefined without published versions. */
export const detailsOf = async (address: ModuleAddress, version = ''): Promise<Details | undefined> => {
  try {
    return (await (await ofProtocol(address, version && joined(version))).json()) as Details;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && !version) return undefined;
    throw error;
  }
};

/** Deprecated versions. */
export const deprecationsOf = async (address: ModuleAddress): Promise<Record<string, Deprecation>> => {
  const { modules } = (await (await ofProtocol(address, '/versions')).json()) as {
    modules: { versions: { version: string; deprecation: Deprecation | null }[] }[];
  };
  const versions = modules.flatMap((module) => module.versions);
  return Object.fromEntries(
    versions.flatMap(({ version, deprecation }) => (deprecation ? [[version, deprecation]] : [])),
  );
};

/** The uploaded archive of a published version. */
export const archiveOf = async (address: ModuleAddress, version: string): Promise<Blob> => {
  const { headers } = await ofProtocol(address, `${joined(version)}/download`);
  const response = await fetch(headers.get('x-terraform-get') ?? '', { referrerPolicy: 'no-referrer' });
  if (!response.ok) throw new Error(`Can’t download version ${version}: status ${response.status}. Try again.`);
  return response.blob();
};

type Module = Resource<'registry-modules'>;

export const readModule = (address: ModuleAddress): Promise<Module> => get(apiPath(address));

export const addressOf = ({ attributes }: Module, organization: string): ModuleAddress => ({
  organization,
  registry: attributes['registry-name'],
  namespace: attributes.namespace,
  name: attributes.name,
  provider: attributes.provider,
});

/** Usable versions, newest first. */
export const usableVersions = ({ attributes }: Module): string[] =>
  attributes['version-statuses'].flatMap(({ version, status }) => (status === 'ok' ? [version] : []));

export interface NoCode {
  module: Resource<'no-code-modules'>;
  options: Resource<'variable-options'>[];
}

export const readNoCode = async (id: string): Promise<NoCode> => {
  const { data, included = [] } = await call<Resource<'no-code-modules'>>(
    'GET',
    `/no-code-modules/${encodeURIComponent(id)}?include=variable_options`,
  );
  return { module: data, options: included };
};
