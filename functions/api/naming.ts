import { AsyncLocalStorage } from 'node:async_hooks';
import { keys } from '#platform/store/keys.ts';
import { get } from '#platform/store/table.ts';
import type { ApiRequest } from './request.ts';

/**
 * Current names of organizations in a request. Records refer to an organization by its key, which is its first name; a
 * renamed one has another current name (decisions/0242). Reading an organization or a membership notes the name, so
 * that documents show it without a read of their own.
 */

const names = new AsyncLocalStorage<Map<string, string>>();

/** Each call has names of its own. */
export const namingOrganizations =
  <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
  (...args: A): Promise<R> =>
    names.run(new Map(), () => work(...args));

/** @param name absent: the organization has its first name */
export const noteName = (key: string, name: string | undefined): void => {
  names.getStore()?.set(key, name ?? key);
};

/** The current name, for documents, links and messages of a request. */
export const nameOf = (key: string): string => names.getStore()?.get(key) ?? key;

/** Key of the organization that was given this name when it was renamed. 1 read. */
export const keyOfRenamed = async (name: string): Promise<string | undefined> =>
  (await get<{ key: string }>(keys.renamedOrganization(name)))?.key;

/** Names of organizations in a request. */
export interface GivenNames {
  organization: string | undefined;
  /** Of a private registry; publishers in public ones are no organizations here. */
  namespace: string | undefined;
  /** Of the subject. */
  query: string | undefined;
}

const inPath = ['organization', 'namespace'] as const;

const inQuery = ['filter[organization][name]', 'organization_name'];

/** @param declared query parameters of the route, by name */
export const givenNames = ({ params, query }: ApiRequest, declared: object): GivenNames => {
  const parameter = inQuery.find((name) => name in declared);
  return {
    organization: params.organization,
    namespace: params.registry === 'public' ? undefined : params.namespace,
    query: (parameter && query.get(parameter)) || undefined,
  };
};

/** Replaces names in the path by keys. False when no organization was renamed so. 1 read per name. */
export const toKeys = async ({ params }: ApiRequest, given: GivenNames): Promise<boolean> => {
  const names = new Set(inPath.flatMap((parameter) => given[parameter] || []));
  let isRenamed = false;
  for (const name of names) {
    const key = await keyOfRenamed(name);
    if (key === undefined) continue;
    isRenamed = true;
    for (const parameter of inPath) if (given[parameter] === name) params[parameter] = key;
  }
  return isRenamed;
};

/**
 * A former name in the request, and the current one. The path parameters have keys by now.
 * @param home the subject's organization
 */
export const formerName = (
  { params }: ApiRequest,
  given: GivenNames,
  home: string,
): { former: string; current: string } | undefined => {
  const pairs = [...inPath.map((parameter) => [given[parameter], params[parameter]]), [given.query, home]];
  for (const [former, key] of pairs) {
    if (former && key && !isNamed(key, former)) return { former, current: nameOf(key) };
  }
  return undefined;
};

/** Whether a name in the request means the organization. */
export const isNamed = (key: string, name: string): boolean => nameOf(key) === name;
