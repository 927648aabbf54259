import { forbidden } from '../errors.ts';
import type { Grants } from './grants.ts';

/** Who calls, and what they may do with what. */
export interface Principal extends Grants {
  /** Tokens of teams and organizations act as an account of their own, which has a membership as users have. */
  kind: Exclude<CallerKind, 'session'> | 'run' | 'task';
  /** The recorded actor: the user, the service account, or the creator of the run. */
  userId: string;
  tokenId: string;
  /** The account of a token that belongs to no user. */
  organization?: string;
}

/**
 * Of what only people do.
 * @throws {ApiError} 403
 */
export const checkPerson = ({ kind }: Principal): void => {
  if (kind !== 'user')
    throw forbidden("This request needs a user's token, not the token of a team or an organization.");
};

export type CallerKind = 'user' | 'session' | 'team' | 'organization' | 'audit-trails';
