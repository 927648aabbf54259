import { one } from '#api/answer.ts';
import type { Token } from './tokens.ts';

/** HCP API: authentication tokens. `secret` is present only in the response to the creation. */
export const tokenDocument = (token: Token, secret: string | null = null) => ({
  id: token.id,
  type: 'authentication-tokens',
  attributes: {
    'created-at': token.createdAt,
    'last-used-at': token.lastUsedAt ?? null,
    description: token.description,
    token: secret,
    'expired-at': token.expiredAt,
  },
  relationships: {
    'created-by': one('users', token.createdBy),
    ...(token.teamId ? { team: one('teams', token.teamId) } : {}),
  },
});
