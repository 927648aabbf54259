import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { noteId } from './change-record.ts';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** `run` → `run-CZcmD7eagjhyX0vN`: prefix and 16 random characters (93 bits; HCP API: ids). */
export const newId = (prefix: string): string =>
  noteId(`${prefix}-${Array.from({ length: 16 }, () => alphabet[randomInt(alphabet.length)]).join('')}`);

/** Always the same id for the same origin. */
export const derivedId = (prefix: string, origin: string): string => {
  const bytes = hash('sha256', origin, 'buffer');
  return `${prefix}-${Array.from(bytes.subarray(0, 16), (byte) => alphabet[byte % alphabet.length]).join('')}`;
};

/** Ids of a run's parts share its characters, so that finding the run takes no read. */
export const planId = (runId: string): string => runId.replace(/^run-/, 'plan-');
export const applyId = (runId: string): string => runId.replace(/^run-/, 'apply-');
export const costEstimateId = (runId: string): string => runId.replace(/^run-/, 'ce-');
export const runIdOf = (partId: string): string => partId.replace(/^(plan|apply|ce)-/, 'run-');

/** 256 bits, URL-safe. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/** Hex SHA-256 that is stored instead of a token. Tokens have 256 random bits, so no salt or stretching is needed. */
export const hashSecret = (secret: string): string => hash('sha256', secret);

/** Compares texts in constant time. */
export const isSame = (given: string, wanted: string): boolean => {
  const [a, b] = [given, wanted].map((text) => hash('sha256', text, 'buffer')) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
};

/** Whether the secret has this hash, in a time that does not depend on their characters. */
export const isSecretOf = (stored: string | undefined, secret: string): boolean => {
  const own = hashSecret(secret);
  return stored?.length === own.length && timingSafeEqual(Buffer.from(stored), Buffer.from(own));
};
