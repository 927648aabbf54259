import { ApiError } from '#api/errors.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get } from '#platform/store/table.ts';
import { living, type Organization } from '#resources/organizations/records.ts';

/** While the platform is drained, it creates no run; existing ones continue (lifecycle/drain/handler.ts). */
export interface Drain {
  /** Given by the operator, for users. */
  reason: string;
  /** UTC, ISO 8601. */
  since: string;
}

/** 409 until the operator ends the drain. */
export class DrainingError extends ApiError {
  override name = 'DrainingError';

  constructor({ reason }: Drain) {
    const detail = `This platform starts no new runs now: ${reason}. Try again later, or ask its operator (stepform drain --resume).`;
    super(409, [{ title: 'platform is being drained', detail }]);
  }
}

export const getDrain = (): Promise<Drain | undefined> => get<Drain>(keys.drain);

/**
 * For creations that write something before {@link organizationOfNewRun}. Half a read unit.
 * @throws {DrainingError}
 */
export const checkNotDraining = async (): Promise<void> => {
  const drain = await get<Drain>(keys.drain, false);
  if (drain) throw new DrainingError(drain);
};

/**
 * The organization of a run that is about to be created. Every creation calls this: the drain comes with the same
 * request.
 * @throws {DrainingError}
 */
export const organizationOfNewRun = async (name: string): Promise<Organization | undefined> => {
  const items = await batchGet<Key>([keys.organization(name), keys.drain]);
  const drain = items.find(({ pk }) => pk === keys.drain.pk);
  if (drain) throw new DrainingError(drain as Key & Drain);
  return living(items[0] as (Key & Organization) | undefined);
};
