import { derivedId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { openCached, type SecretContext, seal } from '#platform/store/secrets.ts';
import { create, get, put, remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Organization } from '#resources/organizations/records.ts';

/** The Slack app of an organization, whose buttons decide runs (decisions/0274). */
export interface SlackApp {
  /** `slackapp-…`, a part of the addresses that Slack calls. */
  id: string;
  organization: string;
  /** Slack's address: `https://slack.com`. */
  url: string;
  /** Id of the only Slack workspace whose users may decide. */
  teamId: string;
  clientId: string;
  sealedSigningSecret: Uint8Array;
  sealedClientSecret: Uint8Array;
  createdAt: string;
  updatedAt: string;
}

export type SlackAppSettings = Pick<SlackApp, 'url' | 'teamId' | 'clientId'>;
export interface SlackSecrets {
  signingSecret: string;
  clientSecret: string;
}

type Home = Pick<Organization, 'name' | 'externalId'>;

/** Stays the same for the lifetime of the organization. */
const idOf = ({ externalId }: Home): string => derivedId('slackapp', externalId);

const contextOf = (organization: string, secret: keyof SlackSecrets): SecretContext => ({
  organization,
  slackApp: secret,
});

/** 1 read. */
export const getSlackApp = (organization: string): Promise<SlackApp | undefined> =>
  get<SlackApp>(keys.slackApp(organization));

/** 2 reads. */
export const findSlackApp = async (id: string): Promise<SlackApp | undefined> => {
  const pointer = await get<{ organization: string }>(keys.slackAppId(id));
  return pointer && getSlackApp(pointer.organization);
};

const sealed = async (organization: string, { signingSecret, clientSecret }: Partial<SlackSecrets>) => ({
  ...(signingSecret
    ? { sealedSigningSecret: await seal(signingSecret, contextOf(organization, 'signingSecret')) }
    : {}),
  ...(clientSecret ? { sealedClientSecret: await seal(clientSecret, contextOf(organization, 'clientSecret')) } : {}),
});

/** Creates it with its secrets. Undefined when the organization has one. 2 writes, 2 KMS requests. */
export const createSlackApp = async (
  home: Home,
  settings: SlackAppSettings,
  secrets: SlackSecrets,
): Promise<SlackApp | undefined> => {
  const at = now();
  const { sealedSigningSecret, sealedClientSecret } = (await sealed(home.name, secrets)) as Required<
    Awaited<ReturnType<typeof sealed>>
  >;
  const id = idOf(home);
  const app: SlackApp = {
    ...settings,
    id,
    organization: home.name,
    sealedSigningSecret,
    sealedClientSecret,
    createdAt: at,
    updatedAt: at,
  };
  await put({ ...keys.slackAppId(id), organization: home.name });
  return (await create({ ...keys.slackApp(home.name), ...app })) ? app : undefined;
};

/** Secrets that are left out stay. Undefined when the app was removed. 1 write. */
export const changeSlackApp = async (
  organization: string,
  settings: SlackAppSettings,
  secrets: Partial<SlackSecrets>,
): Promise<SlackApp | undefined> =>
  updateExisting<SlackApp>(keys.slackApp(organization), {
    set: { ...settings, ...(await sealed(organization, secrets)), updatedAt: now() },
  });

/** Ends all links: a later app accepts only newer ones (links.ts). Can be repeated. */
export const deleteSlackApp = async (home: Home): Promise<void> => {
  await remove(keys.slackApp(home.name));
  await remove(keys.slackAppId(idOf(home)));
};

/** At most 1 KMS request. */
export const openSigningSecret = ({ organization, sealedSigningSecret }: SlackApp): Promise<string> =>
  openCached(sealedSigningSecret, contextOf(organization, 'signingSecret'));

/** At most 1 KMS request. */
export const openClientSecret = ({ organization, sealedClientSecret }: SlackApp): Promise<string> =>
  openCached(sealedClientSecret, contextOf(organization, 'clientSecret'));
