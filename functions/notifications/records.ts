import type { DeliveryResponse } from '../outbound/notification.ts';
import type { DestinationType, Notification, NotificationTrigger } from '../run/notifications.ts';
import { updateRun } from '../runs/records.ts';
import { asEdit, type Edited, type Editor } from '../store/edits.ts';
import { type Key, keys } from '../store/keys.ts';
import { open, type SecretContext, seal } from '../store/secrets.ts';
import { batchGet, type Change, create, get, queryAll, remove, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import type { Workspace } from '../workspaces/records.ts';

/** Notification configurations of workspaces: whom their runs tell what (HCP API: notification configurations). */
export interface NotificationConfiguration extends Edited {
  id: string;
  organization: string;
  workspaceId: string;
  name: string;
  destinationType: DestinationType;
  url: string;
  enabled: boolean;
  triggers: NotificationTrigger[];
  /** What notifications are signed with; sealed, and given to nobody. Absent: they are not signed. */
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
  'name' | 'destinationType' | 'url' | 'enabled' | 'triggers'
>;
/** `token`: null for none; undefined leaves it as it is. */
export type NotificationValues = NotificationSettings & { token?: string | null };

/** HCP API: notification configurations. */
export const maxNotifications = 20;
/** How many answers are kept. */
const maxResponses = 5;

const contextOf = ({ workspaceId, id }: Pick<NotificationConfiguration, 'workspaceId' | 'id'>): SecretContext => ({
  workspace: workspaceId,
  notificationConfiguration: id,
});

export const getNotification = (id: string): Promise<NotificationConfiguration | undefined> =>
  get<NotificationConfiguration>(keys.notification(id));

/** The oldest first. 1 read. */
export const listNotifications = async ({ notifications }: Workspace): Promise<NotificationConfiguration[]> => {
  const configurations = await batchGet<NotificationConfiguration & Key>(
    [...(notifications ?? [])].map(keys.notification),
  );
  return configurations.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
};

/** What to sign with; undefined when nothing is signed. 1 KMS request. */
export const openToken = async (configuration: NotificationConfiguration): Promise<string | undefined> =>
  configuration.sealedToken && open(configuration.sealedToken, contextOf(configuration));

/** So many side by side: each is a write. */
const atOnce = 50;

/**
 * Runs know from their creation whether somebody wants to hear of them (decisions/0019). Those that are under way learn it
 * with the first configuration: the next in line, and whoever waits with a saved plan.
 */
const enableForOpenRuns = async ({ id, savedPlans }: Workspace): Promise<void> => {
  const queued = await queryAll<{ runId: string }>({ pk: keys.workspace(id).pk, prefix: 'QUEUE#' });
  const runIds = [...new Set([...queued.map(({ runId }) => runId), ...(savedPlans ?? [])])];
  for (let i = 0; i < runIds.length; i += atOnce) {
    const some = runIds.slice(i, i + atOnce);
    await Promise.all(some.map((runId) => updateRun(runId, { set: { notifies: true } })));
  }
};

/** @param id made by the caller, who has told it to the destination. Undefined when the workspace was deleted. 2 writes, 1 KMS request with a token. */
export const createNotification = async (
  workspace: Workspace,
  id: string,
  { token, ...settings }: NotificationValues,
): Promise<NotificationConfiguration | undefined> => {
  const at = now();
  const { organization, id: workspaceId } = workspace;
  const configuration: NotificationConfiguration = {
    ...settings,
    id,
    organization,
    workspaceId,
    createdAt: at,
    updatedAt: at,
  };
  if (token) configuration.sealedToken = await seal(token, contextOf(configuration));
  // The workspace first: an id that leads nowhere is harmless, a configuration that no run looks for is not.
  const owner = await update(keys.workspace(workspaceId), {
    add: { notifications: new Set([id]) },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
  if (!owner) return undefined;
  await create({ ...keys.notification(id), ...configuration });
  if (!workspace.notifications) await enableForOpenRuns(workspace);
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
export const deleteNotification = async ({ id, workspaceId }: NotificationConfiguration): Promise<void> => {
  await remove(keys.notification(id));
  await update(keys.workspace(workspaceId), {
    delete: { notifications: new Set([id]) },
    condition: 'attribute_exists(pk)',
  });
};

/** Those of a workspace that is being deleted. */
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

const deliveryKey = (runId: string, configurationId: string, { trigger, status }: Notification): Key =>
  keys.told(runId, `${configurationId}#${trigger}#${status}`);

/**
 * Whether this event is the one that tells a configuration of it: the first that comes, until it is through. A state that
 * the machine tries again makes another event, and tells nobody twice; Lambda's second try of the same event goes on.
 */
export const claimDelivery = async (
  runId: string,
  configurationId: string,
  notice: Notification,
  eventId: string,
): Promise<boolean> => {
  const key = deliveryKey(runId, configurationId, notice);
  if (await create({ ...key, eventId })) return true;
  const told = await get<Delivery>(key);
  return told?.eventId === eventId && !told.over;
};

/** It was taken, or never will be. */
export const endDelivery = async (runId: string, configurationId: string, notice: Notification): Promise<void> => {
  await update(deliveryKey(runId, configurationId, notice), { set: { over: true } });
};
