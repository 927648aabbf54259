import { hashSecret, newSecret } from '#platform/store/id.ts';
import { create, get, remove } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import { keys } from '../keys.ts';

/** A ticket lets one connection follow the log of one job; it must be used at once. */

export type JobKind = 'version' | 'dry-run' | 'build';

export interface Ticket {
  kind: JobKind;
  jobId: string;
  /** Only entries after this id. */
  after: number;
}

const goodSeconds = 60;
const goodMs = goodSeconds * 1000;

/** 1 write. */
export const issueTicket = async (ticket: Ticket): Promise<string> => {
  const secret = newSecret();
  const until = Date.now() + goodMs;
  await create({ ...keys.ticket(hashSecret(secret)), ...ticket, until, expiresAt: expiryIn(goodSeconds) });
  return secret;
};

/** Undefined for an invalid or used ticket. 1 read, 1 write. */
export const redeemTicket = async (secret: string): Promise<Ticket | undefined> => {
  const key = keys.ticket(hashSecret(secret));
  const ticket = await get<Ticket & { until: number }>(key);
  if (!ticket || !(await remove(key)) || ticket.until < Date.now()) return undefined;
  const { kind, jobId, after } = ticket;
  return { kind, jobId, after };
};
