import { randomUUID } from 'node:crypto';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { recordsAt, updateRecord } from '#platform/store/records.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { create, get, put, queryAll, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { usePool, withPoolUse } from '#resources/agents/pools/uses.ts';
import type { Dialect, ServiceProviderName } from './service-providers.ts';

/**
 * Connections to version control: an OAuth client with at most one token. Secrets are encrypted in the context of
 * their record, decrypted only by functions that call the forge, and never returned.
 */

export interface OauthClient extends Edited {
  id: string;
  organization: string;
  uuid: string;
  name: string | null;
  serviceProvider: ServiceProviderName;
  /** Type of the forge's API. */
  dialect: Dialect;
  httpUrl: string;
  apiUrl: string;
  key: string | null;
  rsaPublicKey: string | null;
  sealedSecret?: Uint8Array;
  sealedPrivateKey?: Uint8Array;
  /** True: every project may use it; false: only those in `projectIds`. */
  organizationScoped: boolean;
  projectIds?: Set<string>;
  /** The pool whose agents send its requests, for a forge that the platform cannot reach. */
  agentPoolId?: string;
  tokenId?: string;
  createdAt: string;
  updatedAt: string;
  /** Set while it is being deleted; readers treat it as deleted. */
  deletedAt?: string;
}

export interface OauthToken extends Edited {
  id: string;
  organization: string;
  clientId: string;
  sealedToken: Uint8Array;
  sealedRefreshToken?: Uint8Array;
  sealedSshKey?: Uint8Array;
  /** UTC ISO 8601; absent for tokens that do not expire. */
  expiresAt?: string;
  /** Incremented by each new token. */
  generation: number;
  /** The forge asked to wait until then. */
  pausedUntil?: string;
  /** Reason why the forge rejects it. */
  broken?: string;
  account: Account;
  /** A personal access token, which no user authorized through OAuth. */
  personal?: boolean;
  createdAt: string;
  deletedAt?: string;
}

/** The token's account at the forge. */
export interface Account {
  id: string;
  name: string;
}

/** The connection of a call: an OAuth client, or an installation of the GitHub App. */
export type ForgeClient = Pick<
  OauthClient,
  'id' | 'organization' | 'name' | 'serviceProvider' | 'dialect' | 'httpUrl' | 'apiUrl' | 'agentPoolId'
>;

/** A token from the forge: a personal access token, or one from redeeming a code. */
export interface IssuedToken {
  token: string;
  refreshToken?: string;
  expiresAt?: string;
  personal?: boolean;
}

export type ClientSettings = Pick<
  OauthClient,
  | 'name'
  | 'serviceProvider'
  | 'dialect'
  | 'httpUrl'
  | 'apiUrl'
  | 'key'
  | 'rsaPublicKey'
  | 'organizationScoped'
  | 'projectIds'
> & {
  secret?: string | null;
  privateKey?: string | null;
  /** Null: the platform itself sends its requests. */
  agentPoolId?: string | null;
};

/** Maximum number of connections in an organization. */
export const maxClients = 100;

const contextOf = (id: string, what: string): SecretContext => ({ connection: id, what });

const clients = recordsAt<OauthClient>(keys.oauthClient);
const tokens = recordsAt<OauthToken>(keys.oauthToken);
export const getClient = clients.read;
export const getToken = tokens.read;

/** Also returns connections that are being deleted. */
export const getEndedClient = (id: string): Promise<OauthClient | undefined> => get<OauthClient>(keys.oauthClient(id));
export const getEndedToken = (id: string): Promise<OauthToken | undefined> => get<OauthToken>(keys.oauthToken(id));

/** In order of creation. */
export const listClients = async (organization: string): Promise<OauthClient[]> => {
  const range = { pk: keys.organization(organization).pk, prefix: 'OC#' };
  const pointers = await queryAll<{ clientId: string }>(range);
  const found = await clients.readAll(pointers.map(({ clientId }) => clientId));
  return found.filter((client) => client.organization === organization);
};

export const listTokens = (of: OauthClient[]): Promise<OauthToken[]> =>
  tokens.readAll(of.flatMap(({ tokenId }) => tokenId ?? []));

const sealed = async (client: string, { secret, privateKey }: Pick<ClientSettings, 'secret' | 'privateKey'>) => ({
  ...(secret ? { sealedSecret: await seal(secret, contextOf(client, 'secret')) } : {}),
  ...(privateKey ? { sealedPrivateKey: await seal(privateKey, contextOf(client, 'private key')) } : {}),
});

export const openClientSecret = async ({ id, sealedSecret }: OauthClient): Promise<string | undefined> =>
  sealedSecret && open(sealedSecret, contextOf(id, 'secret'));

/**
 * 2 writes, 4 with a token. An interrupted creation leaves a client without a pointer, which is in no list and
 * unused.
 */
export const createClient = async (
  organization: string,
  { secret, privateKey, agentPoolId, ...settings }: ClientSettings,
  issued?: IssuedToken & { account: Account },
): Promise<OauthClient> => {
  const at = now();
  const id = newId('oc');
  const client: OauthClient = {
    ...settings,
    ...(await sealed(id, { secret, privateKey })),
    ...(agentPoolId ? { agentPoolId } : {}),
    id,
    organization,
    uuid: randomUUID(),
    createdAt: at,
    updatedAt: at,
  };
  if (agentPoolId) await usePool(agentPoolId, id);
  await put({ ...keys.organizationOauthClient(organization, at, id), clientId: id });
  await create({ ...keys.oauthClient(id), ...client });
  if (!issued) return client;
  const token = await keepToken(client, issued, issued.account);
  return { ...client, tokenId: token.id };
};

/** Undefined when it is deleted, or changed since the editor read it. @throws {AgentPoolGoneError} */
export const updateClient = async (
  { id, agentPoolId: from }: OauthClient,
  { secret, privateKey, agentPoolId, ...change }: Partial<ClientSettings>,
  editor: Editor,
): Promise<OauthClient | undefined> => {
  const { projectIds, ...rest } = change;
  const none = projectIds?.size === 0;
  const to = agentPoolId === undefined ? from : agentPoolId;
  const wanted = {
    set: {
      ...rest,
      ...(projectIds && !none ? { projectIds } : {}),
      ...(await sealed(id, { secret, privateKey })),
      ...(agentPoolId ? { agentPoolId } : {}),
      updatedAt: now(),
    },
    remove: [...(none ? ['projectIds'] : []), ...(agentPoolId === null ? ['agentPoolId'] : [])],
  };
  return withPoolUse(id, { from, to }, () => updateRecord<OauthClient>(keys.oauthClient(id), asEdit(wanted, editor)));
};

/** Adds or removes projects that may use it. Undefined when it is deleted. */
export const changeProjects = (
  { id }: OauthClient,
  change: { add?: Set<string>; remove?: Set<string> },
): Promise<OauthClient | undefined> =>
  updateRecord<OauthClient>(keys.oauthClient(id), {
    set: { updatedAt: now() },
    ...(change.add ? { add: { projectIds: change.add } } : {}),
    ...(change.remove ? { delete: { projectIds: change.remove } } : {}),
  });

const sealIssued = async (id: string, { token, refreshToken, expiresAt }: IssuedToken) => ({
  set: {
    sealedToken: await seal(token, contextOf(id, 'token')),
    ...(refreshToken ? { sealedRefreshToken: await seal(refreshToken, contextOf(id, 'refresh token')) } : {}),
    ...(expiresAt ? { expiresAt } : {}),
  },
  remove: [...(refreshToken ? [] : ['sealedRefreshToken']), ...(expiresAt ? [] : ['expiresAt'])],
});

/**
 * Stores the client's token. A replaced token keeps its id, which workspaces refer to (the provider's
 * `oauth_token_id`).
 */
export const keepToken = async (client: OauthClient, issued: IssuedToken, account: Account): Promise<OauthToken> => {
  const current = client.tokenId ? await getToken(client.tokenId) : undefined;
  const id = current?.id ?? newId('ot');
  const { set, remove } = await sealIssued(id, issued);
  if (current) {
    const renewed = await updateRecord<OauthToken>(keys.oauthToken(id), {
      set: { ...set, account, personal: issued.personal ?? false },
      add: { generation: 1 },
      remove: [...remove, 'broken', 'pausedUntil'],
    });
    if (renewed) return renewed;
  }
  const { id: clientId, organization } = client;
  const { personal = false } = issued;
  const token: OauthToken = { ...set, id, organization, clientId, generation: 1, account, personal, createdAt: now() };
  await put({ ...keys.oauthToken(id), ...token });
  await updateRecord(keys.oauthClient(clientId), { set: { tokenId: id, updatedAt: now() } });
  return token;
};

/** Stores a refreshed token. Undefined after a concurrent refresh. */
export const keepRefreshed = async (
  { id, generation }: OauthToken,
  issued: IssuedToken,
): Promise<OauthToken | undefined> => {
  const { set, remove } = await sealIssued(id, issued);
  return update<OauthToken>(keys.oauthToken(id), {
    set,
    // A forge that returns no new refresh token keeps accepting the current one.
    remove: remove.filter((name) => name !== 'sealedRefreshToken'),
    add: { generation: 1 },
    condition: 'generation = :seen AND attribute_not_exists(deletedAt)',
    values: { ':seen': generation },
  });
};

/** 1 KMS request. */
export const openToken = ({ id, sealedToken }: OauthToken): Promise<string> =>
  open(sealedToken, contextOf(id, 'token'));

export const openRefreshToken = async ({ id, sealedRefreshToken }: OauthToken): Promise<string | undefined> =>
  sealedRefreshToken && open(sealedRefreshToken, contextOf(id, 'refresh token'));

/** Undefined when it is deleted. */
export const keepSshKey = async ({ id }: OauthToken, key: string): Promise<OauthToken | undefined> =>
  updateRecord<OauthToken>(keys.oauthToken(id), { set: { sealedSshKey: await seal(key, contextOf(id, 'ssh key')) } });

/** Records a problem of the token that was used, unless it has been replaced. */
export const recordTokenProblem = async (
  { id, generation }: OauthToken,
  problem: { broken: string } | { pausedUntil: string },
): Promise<void> => {
  await update(keys.oauthToken(id), {
    set: problem,
    condition: 'generation = :seen',
    values: { ':seen': generation },
  });
};

/** Whether the project's workspaces may use the connection. */
export const serves = ({ organizationScoped, projectIds }: OauthClient, projectId: string): boolean =>
  organizationScoped || (projectIds?.has(projectId) ?? false);
