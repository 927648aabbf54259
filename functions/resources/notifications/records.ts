import type { DeliveryResponse } from '#platform/net/outbound/notification.ts';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { batchGet, type Change, create, get, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Trigger } from '#run/notifications/kinds.ts';
import type { DestinationType } from '#run/notifications/message.ts';

/**
 * Notification configurations of a workspace, of all workspaces in a project, or of a team: runs, health and change
 * requests (HCP API: notification configurations).
 */
export interface NotificationConfiguration extends Edited {
  id: string;
  organization: string;
  /** One of these three is set. */
  workspaceId?: string;
  projectId?: string;
  teamId?: string;
  name: string;
  destinationType: DestinationType;
  /** Null with `email`. */
  url: string | null;
  /** With `email`: external addresses, and users of the organization. */
  emailAddresses?: string[];
  userIds?: string[];
  enabled: boolean;
  triggers: Trigger[];
  /** Key that signs notifications; encrypted, never returned. Absent: notifications are not signed. */
  sealedToken?: Uint8Array;
  createdAt: string;
  updatedAt: string;
  /** Latest first. */
  responses?: DeliveryResponse[];
  deliveries?: number;
}

export type NotificationSettings = Pick<
  NotificationConfiguration,
  'name' | 'destinationType' | 'url' | 'enabled' | 'triggers' | 'emailAddresses' | 'userIds'
>;
/** `token`: null removes it; undefined keeps it. */
export type NotificationValues = NotificationSettings & { token?: string | null };

/** HCP API: notification configurations. */
export const maxNotifications = 20;
/** Number of responses kept. */
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

/** A workspace, project or team with notification configurations. */
interface Owner {
  notifications?: Set<string>;
}

/** Oldest first. 1 read. */
export const listNotifications = async (...owners: Owner[]): Promise<NotificationConfiguration[]> => {
  const ids = owners.flatMap(({ notifications }) => [...(notifications ?? [])]);
  const configurations = await batchGet<NotificationConfiguration & Key>(ids.map(keys.notification));
  return configurations.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
};

/** Signing key; undefined when notifications are not signed. 1 KMS request. */
export const openToken = async (configuration: NotificationConfiguration): Promise<string | undefined> =>
  configuration.sealedToken && open(configuration.sealedToken, contextOf(configuration));

/**
 * 2 writes, and 1 KMS request with a token. Undefined when its owner was deleted; 1 more read when the limit is
 * reached.
 * @param id chosen by the caller, who already sent it to the destination
 */
export const createNotification = async (
  owner: Pick<NotificationConfiguration, 'organization' | 'workspaceId' | 'projectId' | 'teamId'>,
  id: string,
  { token, ...settings }: NotificationValues,
): Promise<NotificationConfiguration | 'full' | undefined> => {
  const at = now();
  const configuration: NotificationConfiguration = { ...settings, ...owner, id, createdAt: at, updatedAt: at };
  if (token) configuration.sealedToken = await seal(token, contextOf(configuration));
  // The owner first: a dangling id is harmless, but a configuration without a pointer would never be used.
  const updated = await updateRecord(ownerKey(configuration), {
    add: { notifications: new Set([id]) },
    condition: 'attribute_not_exists(notifications) OR size(notifications) < :most',
    values: { ':most': maxNotifications },
  });
  if (!updated) {
    const current = await get<Owner & { deletedAt?: string }>(ownerKey(configuration));
    return current && !current.deletedAt ? 'full' : undefined;
  }
  await create({ ...keys.notification(id), ...configuration });
  return configuration;
};

/** Undefined when it was deleted, or changed since the editor read it. */
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
  };
  return updateExisting<NotificationConfiguration>(keys.notification(configuration.id), asEdit(edit, editor));
};

/** Can be repeated. */
export const deleteNotification = async (configuration: NotificationConfiguration): Promise<void> => {
  await remove(keys.notification(configuration.id));
  await updateExisting(ownerKey(configuration), { delete: { notifications: new Set([configuration.id]) } });
};

/** Deletes the configurations of a deleted workspace, project or team. */
export const deleteNotificationsOf = async (ids: Iterable<string>): Promise<void> => {
  await Promise.all([...ids].map((id) => remove(keys.notification(id))));
};

/** Retries after concurrent responses. */
const tries = 20;

/** Stores the response to a notification; undefined when the configuration is deleted. */
export const keepResponse = async (
  id: string,
  response: DeliveryResponse,
): Promise<NotificationConfiguration | undefined> => {
  for (let i = 0; i < tries; i++) {
    const before = await getNotification(id);
    if (!before) return undefined;
    const { deliveries, responses = [] } = before;
    const updated = await updateExisting<NotificationConfiguration>(keys.notification(id), {
      set: { responses: [response, ...responses].slice(0, maxResponses), deliveries: (deliveries ?? 0) + 1 },
      condition: deliveries ? 'deliveries = :deliveries' : 'attribute_not_exists(deliveries)',
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

/** A notification about a run or workspace, sent once: a trigger, and the status or time that caused it. */
export interface Occasion {
  trigger: Trigger;
  status: string;
}

const deliveryKey = (aboutId: string, configurationId: string, { trigger, status }: Occasion): Key =>
  keys.told(aboutId, `${configurationId}#${trigger}#${status}`);

/**
 * Whether this event delivers the notification: the first one does, until it is done. A state that the machine
 * retries creates another event, which must not notify twice; Lambda's retry of the same event continues.
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

/** Marks the delivery as done: accepted, or failed for good. */
export const endDelivery = async (aboutId: string, configurationId: string, notice: Occasion): Promise<void> => {
  await update(deliveryKey(aboutId, configurationId, notice), { set: { over: true } });
};
