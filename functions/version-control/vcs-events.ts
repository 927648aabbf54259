import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { put, query } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';

/** Results of webhooks and requests, for users who miss a run (HCP API: VCS events). */

export interface VcsEvent {
  id: string;
  organization: string;
  clientId: string | null;
  tokenId: string | null;
  level: 'info' | 'error';
  message: string;
  suggestedAction: string | null;
  createdAt: string;
  /** The webhook's delivery, which can be repeated. */
  delivery?: { uuid: string; id: string };
}

const keptSeconds = 30 * 86_400;

const digits = 4;
let recorded = 0;

/** Orders events that this process records in the same millisecond. */
const nextInOrder = (): string => (recorded++ % 36 ** digits).toString(36).padStart(digits, '0');

export const recordVcsEvent = async (given: Omit<VcsEvent, 'id' | 'createdAt'>): Promise<void> => {
  const event: VcsEvent = { ...given, id: newId('ve'), createdAt: now() };
  const expiresAt = expiryIn(keptSeconds);
  const key = keys.vcsEvent(event.organization, event.createdAt, nextInOrder() + event.id);
  await put({ ...key, ...event, expiresAt });
};

const dayMs = 86_400_000;

/** Newest first, between two times. 1 query per day. */
export const listVcsEvents = async (organization: string, from: Date, to: Date): Promise<VcsEvent[]> => {
  const all: VcsEvent[] = [];
  for (let day = to.getTime(); day > from.getTime() - dayMs; day -= dayMs) {
    const { pk } = keys.vcsEvent(organization, new Date(day).toISOString(), '');
    const found = await query<VcsEvent>({
      pk,
      from: from.toISOString(),
      to: `${to.toISOString()}~`,
      reverse: true,
      limit: 1000,
    });
    all.push(...found);
  }
  return all;
};
