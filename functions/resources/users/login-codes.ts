import { createHash } from 'node:crypto';
import { hashSecret, newSecret } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, remove } from '#platform/store/table.ts';
import type { Person } from './person.ts';

/** Codes that `terraform login` and the web page exchange for a token: good for one exchange, soon after (RFC 6749 §4.1, RFC 7636). */

export interface LoginGrant {
  /** Who allowed it: a user, by a token; or somebody whom the issuer vouches for. */
  by: { userId: string } | { person: Person };
  /** PKCE: the base64url SHA-256 of what the client must show later. */
  challenge: string;
  redirectUri: string;
  /** Of the token that allowed it; the new one is not to live longer. */
  tokenExpiresAt: string | null;
}

const goodForSeconds = 120;

interface Item extends LoginGrant {
  /** Seconds since 1970: DynamoDB removes it then, or days later. */
  expiresAt: number;
}

/** @returns the code; kept is its hash */
export const createLoginCode = async (grant: LoginGrant): Promise<string> => {
  const code = newSecret();
  const expiresAt = Math.floor(Date.now() / 1000) + goodForSeconds;
  await create({ ...keys.loginCode(hashSecret(code)), ...grant, expiresAt });
  return code;
};

/** What the code stands for, once; undefined when it is unknown, used or too old, or the verifier is another. */
export const redeemLoginCode = async (
  code: string,
  { verifier, redirectUri }: { verifier: string; redirectUri: string },
): Promise<LoginGrant | undefined> => {
  const key = keys.loginCode(hashSecret(code));
  const grant = await get<Item>(key);
  // A wrong verifier uses it up as well: there is no second guess.
  if (!grant || !(await remove(key))) return undefined;
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const fits = grant.challenge === challenge && grant.redirectUri === redirectUri;
  return fits && grant.expiresAt > Date.now() / 1000 ? grant : undefined;
};
