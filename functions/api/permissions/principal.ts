import { forbidden } from '../errors.ts';
import type { Grants } from './grants.ts';

/** The authenticated caller with their permissions. */
export interface Principal extends Grants {
  /** A token of a team or organization acts as a separate account, which has a membership like a user's. */
  kind: Exclude<CallerKind, 'session'> | 'run' | 'task';
  /** The actor in audit events: the user, the account of a team or organization, or the creator of the run. */
  userId: string;
  tokenId: string;
  /** Milliseconds from the token's creation to its expiry, Infinity without expiry; absent for sessions, runs and tasks. */
  lifetimeMs?: number;
  /** A session that single sign-on started. */
  sso?: true | undefined;
  /** The organization of a token that belongs to no user. */
  organization?: string;
}

/**
 * For actions that only users can take.
 * @throws {ApiError} 403
 */
export const checkPerson = ({ kind }: Principal): void => {
  if (kind !== 'user')
    throw forbidden("This request needs a user's token, not the token of a team or an organization.");
};

export type CallerKind = 'user' | 'session' | 'team' | 'organization' | 'audit-trails';
