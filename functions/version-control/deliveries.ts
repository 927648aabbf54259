import { environment } from '../environment.ts';
import { invokeLater } from '../store/aws.ts';
import { dueAttributes, dueIn } from '../store/due.ts';
import { keys } from '../store/keys.ts';
import { logWarning } from '../store/log.ts';
import { create, get, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import type { ForgeEvent } from './forges/events.ts';

/**
 * What there is to do for a repository: a webhook's delivery, a workspace that was connected, somebody who looks for a newer
 * commit. Kept before anything is done, and due until it is done; the sweep has it done when nobody did.
 */

export type RepositoryTask =
  | Exclude<ForgeEvent, { kind: 'ignored' }>
  | { kind: 'connected'; workspaceId: string }
  /** It was connected or changed; its request may have made a version. */
  | { kind: 'policySet'; policySetId: string; versionId?: string }
  | { kind: 'module'; moduleId: string }
  | { kind: 'check'; workspaceId: string };

export interface Delivery {
  /** Of the webhook that it came to. */
  uuid: string;
  id: string;
  repository: string;
  matter: RepositoryTask;
  receivedAt: string;
  /** Workspaces that it let go of, to be run anew. */
  released?: string[];
  /** Which move of its branch it decided. */
  n?: number;
  doneAt?: string;
  /** What came of it, for people. */
  outcome?: string;
  failures?: number;
}

const keptSeconds = 30 * 86_400;

/** Where the events function is told of it. */
export interface DeliveryEvent {
  delivery: { uuid: string; id: string };
}

const tell = async ({ uuid, id }: Delivery): Promise<void> => {
  const event: DeliveryEvent = { delivery: { uuid, id } };
  try {
    await invokeLater(environment.versionControlEventFunction, event);
  } catch (error) {
    // It is due: the sweep does it.
    logWarning('delivery is left to the sweep', { delivery: id, error: (error as Error).name });
  }
};

/** False when it was kept before. Either way it is being done, unless it is done. 1 write, 1 invocation. */
export const keepDelivery = async (
  given: Pick<Delivery, 'uuid' | 'id' | 'repository' | 'matter'>,
): Promise<boolean> => {
  const delivery: Delivery = { ...given, receivedAt: now() };
  const key = keys.delivery(given.uuid, given.id);
  const expiresAt = Math.floor(Date.now() / 1000) + keptSeconds;
  const fresh = await create({ ...key, ...delivery, ...dueIn(given.id, 60), expiresAt });
  if (fresh || !(await get<Delivery>(key))?.doneAt) await tell(delivery);
  return fresh;
};

export const getDelivery = (uuid: string, id: string): Promise<Delivery | undefined> =>
  get<Delivery>(keys.delivery(uuid, id));

export const noteMove = async ({ uuid, id }: Delivery, n: number): Promise<void> => {
  await update(keys.delivery(uuid, id), { set: { n }, condition: 'attribute_exists(pk)' });
};

export const noteReleased = async ({ uuid, id }: Delivery, released: string[]): Promise<void> => {
  await update(keys.delivery(uuid, id), { set: { released }, condition: 'attribute_exists(pk)' });
};

export const finishDelivery = async ({ uuid, id }: Delivery, outcome: string): Promise<void> => {
  await update(keys.delivery(uuid, id), {
    set: { doneAt: now(), outcome },
    remove: dueAttributes,
    condition: 'attribute_exists(pk)',
  });
};

/** After that many failures it is given up. */
const maxFailures = 6;

/** It is tried again later, unless it was tried often enough. True then. */
export const postponeDelivery = async ({ uuid, id, failures = 0 }: Delivery, why: string): Promise<boolean> => {
  const again = failures + 1 < maxFailures;
  await update(keys.delivery(uuid, id), {
    set: { outcome: why, ...(again ? dueIn(id, 60 * 2 ** failures) : { doneAt: now() }) },
    add: { failures: 1 },
    remove: again ? [] : dueAttributes,
    condition: 'attribute_exists(pk)',
  });
  return again;
};
