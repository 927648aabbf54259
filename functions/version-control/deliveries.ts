import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { logWarning } from '#platform/store/log.ts';
import { create, get, updateExisting } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';
import type { ForgeEvent } from './forges/events.ts';

/**
 * Tasks for a repository: a webhook's delivery, a newly connected workspace, or a request to check for a newer
 * commit. Each is stored before it is handled, and stays due until it is done; the sweep repeats it after an
 * interruption.
 */

export type RepositoryTask =
  | Exclude<ForgeEvent, { kind: 'ignored' }>
  | { kind: 'connected'; workspaceId: string }
  /** The set was connected or changed; its request may have created a version. */
  | { kind: 'policySet'; policySetId: string; versionId?: string }
  | { kind: 'module'; moduleId: string }
  | { kind: 'check'; workspaceId: string };

export interface Delivery {
  /** Id of the webhook that received it. */
  uuid: string;
  id: string;
  repository: string;
  task: RepositoryTask;
  receivedAt: string;
  /** Workspaces that it released, where a run has to start. */
  released?: string[];
  /** Number of the branch's move that it was assigned. */
  n?: number;
  doneAt?: string;
  /** The result, shown to users. */
  outcome?: string;
  failures?: number;
}

/** Stored form, which other versions of the platform also read and write. */
type Stored = Omit<Delivery, 'task'> & { matter: RepositoryTask };

const keptSeconds = 30 * 86_400;

/** Input of the function that handles deliveries. */
export interface DeliveryEvent {
  delivery: { uuid: string; id: string };
}

const tell = async ({ uuid, id }: Pick<Delivery, 'uuid' | 'id'>): Promise<void> => {
  const event: DeliveryEvent = { delivery: { uuid, id } };
  try {
    await invokeLater(environment.versionControlEventFunction, event);
  } catch (error) {
    // The delivery stays due, so the sweep handles it.
    logWarning('delivery not handled at once; the sweep repeats it', { delivery: id, error: (error as Error).name });
  }
};

/** False when it was already stored. In both cases it is handled now, unless it is done. 1 write, 1 invocation. */
export const keepDelivery = async ({
  task,
  ...origin
}: Pick<Delivery, 'uuid' | 'id' | 'repository' | 'task'>): Promise<boolean> => {
  const stored: Stored = { ...origin, matter: task, receivedAt: now() };
  const key = keys.delivery(origin.uuid, origin.id);
  const expiresAt = expiryIn(keptSeconds);
  const fresh = await create({ ...key, ...stored, ...dueIn(origin.id, 60), expiresAt });
  if (fresh || !(await get<Stored>(key))?.doneAt) await tell(origin);
  return fresh;
};

export const getDelivery = async (uuid: string, id: string): Promise<Delivery | undefined> => {
  const stored = await get<Stored>(keys.delivery(uuid, id));
  if (!stored) return undefined;
  const { matter: task, ...delivery } = stored;
  return { ...delivery, task };
};

export const noteMove = async ({ uuid, id }: Delivery, n: number): Promise<void> => {
  await updateExisting(keys.delivery(uuid, id), { set: { n } });
};

export const noteReleased = async ({ uuid, id }: Delivery, released: string[]): Promise<void> => {
  await updateExisting(keys.delivery(uuid, id), { set: { released } });
};

export const finishDelivery = async ({ uuid, id }: Delivery, outcome: string): Promise<void> => {
  await updateExisting(keys.delivery(uuid, id), { set: { doneAt: now(), outcome }, remove: dueAttributes });
};

/** Seconds between attempts while the platform is drained. */
const drainSeconds = 300;

/** Handles it again until the platform starts runs. */
export const waitForDrain = async ({ uuid, id }: Delivery, why: string): Promise<void> => {
  await updateExisting(keys.delivery(uuid, id), { set: { outcome: why, ...dueIn(id, drainSeconds) } });
};

/** Number of failures after which it is given up. */
const maxFailures = 6;

/** Schedules a retry; false after the last one. */
export const postponeDelivery = async ({ uuid, id, failures = 0 }: Delivery, why: string): Promise<boolean> => {
  const again = failures + 1 < maxFailures;
  await updateExisting(keys.delivery(uuid, id), {
    set: { outcome: why, ...(again ? dueIn(id, 60 * 2 ** failures) : { doneAt: now() }) },
    add: { failures: 1 },
    remove: again ? [] : dueAttributes,
  });
  return again;
};
