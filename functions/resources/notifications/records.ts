import type { DeliveryResponse } from '#platform/net/outbound/notification.ts';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { batchGet, type Change, create, get, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Trigger } from '#run/notifications/kinds.ts';
import type { DestinationType } from '#run/notifications/message.ts';

/**
 * Notification configurations: who is told what of the runs and the health of a workspace or of all in a project, and of
 * what is asked of a team (HCP API: notification configurations).
 */
export interface NotificationConfiguration extends Edited {
  id: string;
  organization: string;
  /** It has one of the three. */
  workspaceId?: string;
  projectId?: string;
  teamId?: string;
  name: string;
  destinationType: DestinationType;
  /** Null with `email`. */
  url: string | null;
  /** With `email`: of anybody, and of users of the organization. */
  emailAddresses?: string[];
  userIds?: string[];
  enabled: boolean;
  triggers: Trigger[];
  /** Signs notifications; sealed and never returned. Absent: notifications are not signed. */
  sealedToken?: Uint8Array;
  createdAt: string;
  updatedAt: string;
  /** The latest first. */
  responses?: DeliveryResponse[];
  /** How many there have been. */
  deliveries?: number;
}

export type NotificationSettings = Pick<
  NotificationConfiguration,
  'name' | 'destinationType' | 'url' | 'enabled' | 'triggers' | 'emailAddresses' | 'userIds'
>;
/** `token`: null for none; undefined leaves it as it is. */
export type NotificationValues = NotificationSettings & { token?: string | null };

/** HCP API: notification configurations. */
export const maxNotifications = 20;
/** How many answers are kept. */
const maxResponses = 5;

type Owned = Pick<NotificationConfiguration, 'id' | 'workspaceId' | 'projectId' | 'teamId'>;

const contextOf = ({ workspaceId, projectId, teamId, id }: Owned): SecretContext => ({
  ...(workspaceId ? { workspace: workspaceId } : projectId ? { project: projectId } : { team: teamId ?? '' }),
  notificationConfiguration: id,
});

const ownerKey = ({ workspaceId, projectId, teamId }: Owned): Key =>
  workspaceId ? keys.workspace(workspaceId) : projectId ? keys.project(projectId) : keys.team(teamId ?? '');

export const getNotification = (id: string): Promise<NotificationConfiguration | undefined> =>
  get<NotificationConfiguration>(keys.notification(id));

/** What has notification configurations: a workspace, project or team. */
interface Owner {
  notifications?: Set<string>;
}

/** The oldest first. 1 read. */
export const listNotifications = async (...owners: Owner[]): Promise<NotificationConfiguration[]> => {
  const ids = owners.flatMap(({ notifications }) => [...(notifications ?? [])]);
  const configurations = await batchGet<NotificationConfiguration & Key>(ids.map(keys.notification));
  return configurations.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
};

/** What to sign with; undefined when nothing is signed. 1 KMS request. */
export const openToken = async (configuration: NotificationConfiguration): Promise<string | undefined> =>
  configuration.sealedToken && open(configuration.sealedToken, contextOf(configuration));

/**
 * 2 writes, 1 KMS request with a token. Undefined when what it belongs to was deleted; 1 read when it is refused.
 * @param id created by the caller, who has told it to the destination
 */
export const createNotification = async (
  owner: Pick<NotificationConfiguration, 'organization' | 'workspaceId' | 'projectId' | 'teamId'>,
  id: string,
  { token, ...settings }: NotificationValues,
): Promise<NotificationConfiguration | 'full' | undefined> => {
  const at = now();
  const configuration: NotificationConfiguration = { ...settings, ...owner, id, createdAt: at, updatedAt: at };
  if (token) configuration.sealedToken = await seal(token, contextOf(configuration));
  // The owner first: an id that leads nowhere is harmless, a configuration that no run looks for is not.
  const updated = await update(ownerKey(configuration), {
    add: { notifications: new Set([id]) },
    condition:
      'attribute_exists(pk) AND attribute_not_exists(deletedAt) AND (attribute_not_exists(notifications) OR size(notifications) < :most)',
    values: { ':most': maxNotifications },
  });
  if (!updated) {
    const current = await get<Owner & { deletedAt?: string }>(ownerKey(configuration));
    return current && !current.deletedAt ? 'full' : undefined;
  }
  await create({ ...keys.notification(id), ...configuration });
  return configuration;
};

/** Undefined when it is gone, or was changed since the editor looked. */
export const updateNotification = async (
  configuration: NotificationConfiguration,
  { token, ...change }: Partial<NotificationValues>,
  editor: Editor,
): Promise<NotificationConfiguration | undefined> => {
  const edit: Change = {
    set: {
      ...change,
      updatedAt: now(),
      ...(token ? { sealedToken: await seal(token, contextOf(configuration)) } : {}),
    },
    remove: token === null ? ['sealedToken'] : [],
    condition: 'attribute_exists(pk)',
  };
  return update<NotificationConfiguration>(keys.notification(configuration.id), asEdit(edit, editor));
};

/** May be repeated. */
export const deleteNotification = async (configuration: NotificationConfiguration): Promise<void> => {
  await remove(keys.notification(configuration.id));
  await update(ownerKey(configuration), {
    delete: { notifications: new Set([configuration.id]) },
    condition: 'attribute_exists(pk)',
  });
};

/** Those of a workspace, project or team that is being deleted. */
export const deleteNotificationsOf = async (ids: Iterable<string>): Promise<void> => {
  await Promise.all([...ids].map((id) => remove(keys.notification(id))));
};

/** How often another answer may come in between read and write. */
const tries = 20;

/** Keeps what became of a notification; undefined when the configuration is gone. */
export const keepResponse = async (
  id: string,
  response: DeliveryResponse,
): Promise<NotificationConfiguration | undefined> => {
  for (let i = 0; i < tries; i++) {
    const before = await getNotification(id);
    if (!before) return undefined;
    const { deliveries, responses = [] } = before;
    const updated = await update<NotificationConfiguration>(keys.notification(id), {
      set: { responses: [response, ...responses].slice(0, maxResponses), deliveries: (deliveries ?? 0) + 1 },
      condition: deliveries ? 'deliveries = :deliveries' : 'attribute_exists(pk) AND attribute_not_exists(deliveries)',
      values: deliveries ? { ':deliveries': deliveries } : {},
    });
    if (updated) return updated;
  }
  return getNotification(id);
};

interface Delivery extends Key {
  eventId: string;
  over?: boolean;
}

/** What is told of a run or a workspace, once: a trigger, and the status or time that set it off. */
export interface Occasion {
  trigger: Trigger;
  status: string;
}

const deliveryKey = (aboutId: string, configurationId: string, { trigger, status }: Occasion): Key =>
  keys.told(aboutId, `${configurationId}#${trigger}#${status}`);

/**
 * Whether this event is the one that tells a configuration of it: the first that comes, until it is through. A state that
 * the machine tries again makes another event, and tells nobody twice; Lambda's second try of the same event goes on.
 */
export const claimDelivery = async (
  aboutId: string,
  configurationId: string,
  notice: Occasion,
  eventId: string,
): Promise<boolean> => {
  const key = deliveryKey(aboutId, configurationId, notice);
  if (await create({ ...key, eventId })) return true;
  const delivery = await get<Delivery>(key);
  return delivery?.eventId === eventId && !delivery.over;
};

/** It was taken, or never will be. */
export const endDelivery = async (aboutId: string, configurationId: string, notice: Occasion): Promise<void> => {
  await update(deliveryKey(aboutId, configurationId, notice), { set: { over: true } });
};
