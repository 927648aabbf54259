import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { badRequest, conflict, deletedMeanwhile, forbidden, unprocessable } from '#api/errors.ts';
import { inOrganization, param } from '#api/finders.ts';
import { listLimit } from '#api/list-limit.ts';
import { isNamed, keyOfRenamed, nameOf } from '#api/naming.ts';
import { pageFrom } from '#api/pagination.ts';
import { type Call, type Context, type Finder, type Route, route, userRoute } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import { withAudit } from '#resources/audit/trail.ts';
import { type InOrganization, organization as inOrganizationNamed } from '#resources/organizations/finder.ts';
import { findOrganization } from '#resources/organizations/records.ts';
import { gpgKeyDocument } from './document.ts';
import { createGpgKey, deleteGpgKey, type GpgKey, getGpgKey, listGpgKeys, maxGpgKeys } from './gpg-keys.ts';
import { readKeyNamespace, readNewGpgKey } from './input.ts';
import { listProviders, listProviderVersions } from './records.ts';

/** Keys that sign providers (HCP API: GPG keys). A namespace is an organization. */

const key: Finder<GpgKey> = {
  what: 'GPG key',
  parameter: 'keyId',
  find: (request) => getGpgKey(param(request, 'namespace'), param(request, 'keyId').toUpperCase()),
  visibleWith: 'registry:read',
  scope: inOrganization,
};

/** The organization in the body, on which the caller needs permission. */
const namespaceInBody: Finder<InOrganization> = {
  ...inOrganizationNamed,
  find: async (request) => {
    const record = await findOrganization(readKeyNamespaceOf(request));
    return record && { organization: record.name, record };
  },
};

const readKeyNamespaceOf = (request: Parameters<typeof readKeyNamespace>[0]): string => {
  const { data } = (request.json() ?? {}) as { data?: { attributes?: { namespace?: unknown } } };
  const namespace = data?.attributes?.namespace;
  if (typeof namespace !== 'string') throw unprocessable('/data/attributes/namespace', 'namespace: is missing');
  return namespace.slice(0, 100);
};

/** @throws {ApiError} 422 */
const addKey = async (organization: string, keyId: string, asciiArmor: string): Promise<GpgKey> => {
  const limit = listLimit(organization, maxGpgKeys, 'GPG keys', async () => (await listGpgKeys(organization)).length);
  const gpgKey = await createLimited(limit, () => createGpgKey(organization, keyId, asciiArmor), deleteGpgKey);
  if (!gpgKey)
    throw unprocessable(
      '/data/attributes/ascii-armor',
      `ascii-armor: ${nameOf(organization)} has key ${keyId} already`,
    );
  return gpgKey;
};

const create = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const { asciiArmor, keyId } = readNewGpgKey(request);
  return created(gpgKeyDocument(await addKey(subject.organization, keyId, asciiArmor)));
};

const listAll = async ({ request, principal }: Call): Promise<Answer> => {
  const namespaces = (request.query.get('filter[namespace]') ?? '').split(',').filter(Boolean);
  if (namespaces.length === 0)
    throw badRequest('filter[namespace] is missing: name organizations.', 'filter[namespace]');
  if (namespaces.length > 10)
    throw badRequest('filter[namespace] can name at most 10 organizations.', 'filter[namespace]');
  const readable: string[] = [];
  for (const name of new Set(namespaces)) {
    const organization = (await keyOfRenamed(name)) ?? name;
    const granted = await principal.on({ organization });
    if (granted.has('registry:read') && isNamed(organization, name)) readable.push(organization);
  }
  if (readable.length === 0)
    throw forbidden("You don't have permission to read the keys of any of these organizations.");
  const all = (await Promise.all(readable.map(listGpgKeys))).flat();
  return pageFrom(request, all, gpgKeyDocument);
};

/** @throws {ApiError} 409 */
const checkUnused = async ({ organization, keyId }: GpgKey): Promise<void> => {
  for (const { id, name } of await listProviders(organization)) {
    const used = (await listProviderVersions(id)).find((version) => version.keyId === keyId);
    if (used) throw conflict(`Key ${keyId} signs ${name} ${used.version}. Delete that version first.`);
  }
};

/** A repeat after an interrupted move finds the key in both places. */
const movedKey = async ({ asciiArmor, keyId }: GpgKey, organization: string): Promise<GpgKey> => {
  const existing = await getGpgKey(organization, keyId);
  return existing?.asciiArmor === asciiArmor ? existing : addKey(organization, keyId, asciiArmor);
};

const addition = { type: 'gpg_key', action: 'create', parameter: 'keyId', creates: false };

/** Moves a key to the namespace of another organization, whose audit trail also records it. */
const change = async ({ request, subject, principal }: Context<GpgKey>): Promise<Answer> => {
  const name = readKeyNamespace(request);
  const organization = (await keyOfRenamed(name)) ?? name;
  if (isNamed(subject.organization, name)) return ok(gpgKeyDocument(subject));
  const granted = await principal.on({ organization });
  if (!granted.has('registry:write-providers') || !isNamed(organization, name))
    throw forbidden('namespace not authorized');
  await checkUnused(subject);
  const answer = await withAudit({ request, principal, auditAction: addition, organization }, async () =>
    ok(gpgKeyDocument(await movedKey(subject, organization))),
  );
  if (!(await deleteGpgKey(subject))) throw deletedMeanwhile('key');
  return answer;
};

const remove = async ({ subject }: Context<GpgKey>): Promise<Answer> => {
  await checkUnused(subject);
  if (!(await deleteGpgKey(subject))) throw deletedMeanwhile('key');
  return noContent();
};

const base = '/api/registry/private/v2/gpg-keys';
const path = `${base}/{namespace}/{keyId}` as const;

/** Full paths, because these routes are not below `/api/v2`. */
export const gpgKeyRoutes: Route[] = [
  userRoute('GET', base, 'any user', listAll, { 'filter[namespace]': 'text' }),
  route('POST', base, 'registry:write-providers', namespaceInBody, create),
  route('GET', path, 'registry:read', key, async ({ subject }) => ok(gpgKeyDocument(subject))),
  route('PATCH', path, 'registry:write-providers', key, change),
  route('DELETE', path, 'registry:write-providers', key, remove),
];
