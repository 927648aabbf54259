import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData, setting, text, toOne } from '#api/validation.ts';
import { isTrusted } from '#platform/net/outbound/addresses.ts';
import { getAgentPool } from '#resources/agents/pools/records.ts';
import { getProject } from '#resources/projects/records.ts';
import { callerOf } from './call.ts';
import type { Account, ClientSettings, IssuedToken, OauthClient } from './connections.ts';
import { ForgeError } from './forge-error.ts';
import { forges } from './forges/forges.ts';
import { type Dialect, providerOf, serviceProviderNames } from './service-providers.ts';
import { isPrivateKey } from './ssh-key.ts';

/** Input of OAuth clients (HCP API: OAuth clients). */

const at = '/data/attributes';

const otherFields: OtherFields = {
  shown: 'callback-url connect-path created-at service-provider-display-name updated-at uuid',
  related: 'oauth-tokens organization',
};

const isPlainUrl = (given: string): boolean => {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  return (
    !!url && ['https:', 'http:'].includes(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  );
};

const baseUrl = v.pipe(
  text(500),
  v.check(isPlainUrl, 'must be an https URL without user, query or fragment'),
  v.transform((given) => given.replace(/\/+$/, '')),
);

/** An empty string counts as absent: the provider sends one for unset arguments. */
const secretText = (most: number) => setting(text(most));

const settings = {
  name: setting(text(255)),
  key: secretText(1000),
  secret: secretText(1000),
  'rsa-public-key': secretText(10_000),
  'private-key': secretText(10_000),
  'oauth-token-string': setting(
    v.pipe(text(5000), v.regex(/^[\x21-\x7e]*$/, 'must not contain spaces or line breaks')),
  ),
  'organization-scoped': setting(v.boolean()),
};

export const projectList = v.pipe(
  v.array(identifier('projects')),
  v.maxLength(500, 'may have at most 500 projects'),
  v.transform((given) => given.map(({ id }) => id)),
);
const relationships = {
  'agent-pool': v.optional(toOne('agent-pools')),
  projects: v.optional(v.object({ data: projectList })),
};

/** @throws {ApiError} 422 */
export const checkProjects = async (ids: string[], organization: string): Promise<Set<string>> => {
  const found = await Promise.all(ids.map((id) => getProject(id)));
  const missing = ids.find((_, i) => found[i]?.organization !== organization);
  if (missing === undefined) return new Set(ids);
  throw unprocessable(
    '/data/relationships/projects',
    `projects: project ${missing} not found in ${nameOf(organization)}`,
  );
};

const refusedPool = (why: string) => unprocessable('/data/relationships/agent-pool', `agent-pool: ${why}`);

/** The agent pool in the request; undefined when it names none. @throws {ApiError} 422 */
const readPool = async (
  given: { data: { id: string } | null } | undefined,
  organization: string,
): Promise<string | null | undefined> => {
  const id = given?.data?.id;
  if (!id) return given && null;
  const pool = await getAgentPool(id);
  if (pool?.organization === organization) return id;
  throw refusedPool('the provided agent pool does not exist or you are not authorized to use it');
};

/**
 * Moving a connection to another pool requires entering its credentials again, because holders of a pool's token can
 * read the credentials of its connections.
 * @throws {ApiError} 422
 */
const checkNewPool = (
  client: OauthClient,
  pool: string | null | undefined,
  sent: { token: boolean; secret: boolean },
) => {
  if (!pool || pool === client.agentPoolId) return;
  const missing =
    client.tokenId && !sent.token ? 'oauth-token-string' : client.sealedSecret && !sent.secret && 'secret';
  if (missing) throw refusedPool(`another pool's agents do not get the stored credentials: send ${missing} as well`);
};

/** http is allowed only for addresses that the operator trusts, or through agents. @throws {ApiError} 422 */
const checkTransport = async (field: string, given: string, byAgents: boolean): Promise<void> => {
  const url = new URL(given);
  if (byAgents || url.protocol === 'https:' || (await isTrusted(url.hostname))) return;
  throw unprocessable(
    `${at}/${field}`,
    `${field}: must be an https URL; http is only for addresses that the operator allows with outboundAllowedCidrs`,
  );
};

const present = (given: string | null | undefined): string | undefined => given || undefined;

/** Checks the token, and finds its account. @throws {ApiError} 422 */
const checkToken = async (
  client: Pick<OauthClient, 'serviceProvider' | 'apiUrl' | 'dialect' | 'agentPoolId'>,
  secret: string,
): Promise<Account> => {
  const { name } = providerOf(client.serviceProvider);
  if (client.dialect === 'azure-devops' && new URL(client.apiUrl).pathname === '/') {
    const example = `${client.apiUrl}/<organization>`;
    throw unprocessable(`${at}/api-url`, `api-url: a token belongs to an organization or collection: send ${example}`);
  }
  const call = callerOf({ client: client as OauthClient, secret });
  try {
    return await forges[client.dialect].whoAmI(call);
  } catch (error) {
    const why = error instanceof ForgeError ? error.message : `${name} sent an unexpected response at ${client.apiUrl}`;
    throw unprocessable(`${at}/oauth-token-string`, `Oauth token string: ${why}`);
  }
};

/**
 * The tfe provider does not know Gitea: a server configured as GitHub Enterprise may be one, as its address or a
 * request to it shows.
 */
const dialectOf = async ({
  serviceProvider,
  apiUrl,
  agentPoolId,
}: Pick<OauthClient, 'serviceProvider' | 'apiUrl' | 'agentPoolId'>): Promise<Dialect> => {
  const { dialect } = providerOf(serviceProvider);
  if (serviceProvider !== 'github_enterprise' || !apiUrl.endsWith('/api/v1')) return dialect;
  const client = { apiUrl, serviceProvider, agentPoolId, dialect: 'gitea' } as OauthClient;
  const call = callerOf({ client, secret: 'none' });
  const { body } = await call({ method: 'GET', path: '/version', accept: [401, 403, 404] }).catch(() => ({ body: 0 }));
  return v.is(v.object({ version: v.string() }), body) ? 'gitea' : dialect;
};

const checkKeys = (
  provider: OauthClient['serviceProvider'],
  { key, secret, privateKey, token }: { key?: string; secret?: string; privateKey?: string; token?: string },
): void => {
  const pairs = !provider.startsWith('bitbucket_');
  if (pairs && (key === undefined) !== (secret === undefined)) {
    throw unprocessable(`${at}/${key ? 'secret' : 'key'}`, 'key and secret: send both, or neither');
  }
  const wants = provider === 'ado_server';
  // With a token nothing is fetched by SSH.
  if (wants && !privateKey && !token) throw unprocessable(`${at}/private-key`, 'private-key: is missing');
  if (!wants && privateKey) throw unprocessable(`${at}/private-key`, 'private-key: is only for ado_server');
};

interface PersonalToken extends IssuedToken {
  account: Account;
}

export interface NewClient {
  settings: ClientSettings;
  issued?: PersonalToken;
}

/** @throws {ApiError} 400 or 422 */
export const readNewClient = async (request: ApiRequest, organization: string): Promise<NewClient> => {
  const entries = {
    ...settings,
    'service-provider': v.picklist(serviceProviderNames),
    'http-url': baseUrl,
    'api-url': baseUrl,
    'organization-id': setting(text(100)),
  };
  const { attributes, relationships: related } = readData(request, entries, relationships, otherFields);
  const serviceProvider = attributes['service-provider'];
  const agentPoolId = (await readPool(related['agent-pool'], organization)) ?? undefined;
  const projectIds = await checkProjects(related.projects?.data ?? [], organization);
  const [key, secret, privateKey] = [attributes.key, attributes.secret, attributes['private-key']].map(present);
  const token = present(attributes['oauth-token-string']);
  checkKeys(serviceProvider, { key, secret, privateKey, token });
  const [httpUrl, apiUrl] = [attributes['http-url'], attributes['api-url']];
  await checkTransport('http-url', httpUrl, agentPoolId !== undefined);
  await checkTransport('api-url', apiUrl, agentPoolId !== undefined);
  const dialect = await dialectOf({ serviceProvider, apiUrl, agentPoolId });
  const account = token && (await checkToken({ serviceProvider, apiUrl, dialect, agentPoolId }, token));
  return {
    settings: {
      name: attributes.name || null,
      serviceProvider,
      dialect,
      httpUrl,
      apiUrl,
      key: key ?? null,
      secret: secret ?? null,
      privateKey: privateKey ?? null,
      rsaPublicKey: attributes['rsa-public-key'] || null,
      organizationScoped: attributes['organization-scoped'] ?? true,
      ...(projectIds.size ? { projectIds } : {}),
      ...(agentPoolId ? { agentPoolId } : {}),
    },
    ...(token && account ? { issued: { token, account, personal: true } } : {}),
  };
};

export interface ClientChange {
  settings: Partial<ClientSettings>;
  issued?: PersonalToken;
}

const fixed = ['service-provider', 'http-url', 'api-url'] as const;

/** @throws {ApiError} 400 or 422 */
export const readClientChange = async (request: ApiRequest, client: OauthClient): Promise<ClientChange> => {
  const urls = Object.fromEntries(fixed.map((name) => [name, setting(text(500))])) as Record<
    (typeof fixed)[number],
    ReturnType<typeof secretText>
  >;
  const { attributes, relationships: related } = readData(
    request,
    { ...settings, ...urls },
    relationships,
    otherFields,
  );
  const current = { 'service-provider': client.serviceProvider, 'http-url': client.httpUrl, 'api-url': client.apiUrl };
  const moved = fixed.find((name) => attributes[name] && attributes[name].replace(/\/+$/, '') !== current[name]);
  if (moved) throw unprocessable(`${at}/${moved}`, `${moved}: cannot be changed; create another OAuth client`);
  const agentPoolId = await readPool(related['agent-pool'], client.organization);
  if (client.serviceProvider === 'bitbucket_data_center' && attributes.key === '') {
    const detail = 'The Consumer Key for Bitbucket Data Center must be present. Please add a value for `key`.';
    throw unprocessable(`${at}/key`, detail);
  }
  const privateKey = present(attributes['private-key']);
  if (privateKey && client.serviceProvider !== 'ado_server') checkKeys(client.serviceProvider, { privateKey });
  const projects = related.projects && (await checkProjects(related.projects.data, client.organization));
  const token = present(attributes['oauth-token-string']);
  checkNewPool(client, agentPoolId, { token: !!token, secret: !!present(attributes.secret) });
  const poolId = agentPoolId === undefined ? client.agentPoolId : (agentPoolId ?? undefined);
  const account = token ? await checkToken({ ...client, agentPoolId: poolId }, token) : undefined;
  return {
    settings: {
      ...(agentPoolId === undefined ? {} : { agentPoolId }),
      ...(attributes.name === undefined ? {} : { name: attributes.name || null }),
      ...(present(attributes.key) ? { key: attributes.key ?? null } : {}),
      ...(present(attributes.secret) ? { secret: attributes.secret } : {}),
      ...(privateKey ? { privateKey } : {}),
      ...(present(attributes['rsa-public-key']) ? { rsaPublicKey: attributes['rsa-public-key'] ?? null } : {}),
      ...(typeof attributes['organization-scoped'] === 'boolean'
        ? { organizationScoped: attributes['organization-scoped'] }
        : {}),
      ...(projects ? { projectIds: projects } : {}),
    },
    ...(token && account ? { issued: { token, account, personal: true } } : {}),
  };
};

/** @throws {ApiError} 400 or 422 */
export const readTokenChange = (request: ApiRequest): string | undefined => {
  const { attributes } = readData(
    request,
    { 'ssh-key': setting(text(20_000)) },
    {},
    { shown: 'created-at has-ssh-key service-provider-user uid', related: 'oauth-client' },
  );
  const key = present(attributes['ssh-key']);
  if (key && !isPrivateKey(key)) {
    throw unprocessable(
      `${at}/ssh-key`,
      'Ssh key is invalid: send a private key without a passphrase, in PEM or OpenSSH form',
    );
  }
  return key;
};
