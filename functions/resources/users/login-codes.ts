import { createHash } from 'node:crypto';
import { hashSecret, newSecret } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, remove } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import type { Person } from './person.ts';

/**
 * Short-lived, single-use codes that `terraform login` and the web page exchange for a token (RFC 6749 §4.1, RFC
 * 7636).
 */

export interface LoginGrant {
  /**
   * Who authorized the code: a user with a token, a person verified by the issuer, or an account verified by Slack, which
   * is no way to sign in (resources/slack/).
   */
  by: { userId: string } | { person: Person } | { slack: SlackAccount };
  /** PKCE: the base64url SHA-256 of the verifier that the client sends later. */
  challenge: string;
  redirectUri: string;
  /** Expiry of the authorizing token; the new token must not outlive it. */
  tokenExpiresAt: string | null;
}

export interface SlackAccount {
  /** Id of the Slack app (resources/slack/). */
  appId: string;
  teamId: string;
  userId: string;
}

const goodForSeconds = 120;

interface Item extends LoginGrant {
  /** Seconds since 1970. DynamoDB removes the item then or days later. */
  expiresAt: number;
}

/** Stores only a hash. @returns the code */
export const createLoginCode = async (grant: LoginGrant): Promise<string> => {
  const code = newSecret();
  const expiresAt = expiryIn(goodForSeconds);
  await create({ ...keys.loginCode(hashSecret(code)), ...grant, expiresAt });
  return code;
};

/**
 * Returns the grant of the code, once. Undefined when the code is unknown, used or expired, or the verifier does not
 * match.
 */
export const redeemLoginCode = async (
  code: string,
  { verifier, redirectUri }: { verifier: string; redirectUri: string },
): Promise<LoginGrant | undefined> => {
  const key = keys.loginCode(hashSecret(code));
  const grant = await get<Item>(key);
  // A wrong verifier uses up the code too, so that guessing gets one attempt.
  if (!grant || !(await remove(key))) return undefined;
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const fits = grant.challenge === challenge && grant.redirectUri === redirectUri;
  return fits && grant.expiresAt > Date.now() / 1000 ? grant : undefined;
};
