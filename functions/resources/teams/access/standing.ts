import { noteName } from '#api/naming.ts';
import type { Standing } from '#api/permissions/granted.ts';
import type { CallerKind } from '#api/permissions/principal.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { isExempt, permitsCaller } from '#resources/ip-allowlists/enforcement.ts';
import { outlives } from '#resources/organizations/token-ttl-record.ts';
import { accepted, getMembership, type Membership, roleOf } from '#resources/users/memberships.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { getTeams } from '../records.ts';
import type { Team } from '../team.ts';

/** Standing of a user, or of the account that acts for a team or organization token. 1 or 2 reads. */
const standingOf = async (userId: string, organization: string, caller?: Caller): Promise<Standing> =>
  standingBy(await getMembership(userId, organization), caller);

/** Token and address of a request; absent when the platform acts for a user. */
export interface Caller {
  kind: CallerKind;
  /** Milliseconds from the token's creation to its expiry; absent for sessions. */
  lifetimeMs?: number;
  /** UTC, ISO 8601. */
  createdAt?: string;
  /** The session was started by single sign-on. */
  sso?: true | undefined;
  /** Client IP address of the connection. */
  address: string | undefined;
}

const isRefused = async (membership: Membership, { kind, address }: Caller): Promise<boolean> =>
  membership.ipAllowlists !== undefined &&
  !isExempt(roleOf(membership), kind) &&
  !(await permitsCaller(membership.organization, address));

const isOfUser = ({ kind }: Caller): boolean => kind === 'user' || kind === 'session';

/** A session counts by the way it was started, a token by the identity that its user has at the issuer. */
const isBySso = ({ ssoRequired }: Membership, { kind, sso }: Caller): boolean =>
  sso === true || (kind === 'user' && ssoRequired === 'linked');

const isOlder = ({ tokensFrom }: Membership, { createdAt }: Caller): boolean =>
  tokensFrom !== undefined && (createdAt ?? '') <= tokensFrom;

const teamsOf = async ({ teams, organization }: Membership): Promise<Team[]> =>
  teams?.size ? (await getTeams([...teams])).filter((team) => team.organization === organization) : [];

const standingBy = async (membership: Membership | undefined, caller: Caller | undefined): Promise<Standing> => {
  if (!membership) return { teams: [] };
  noteName(membership.organization, membership.organizationName);
  if (caller?.kind === 'user' && membership.withoutUserTokens) return { teams: [], refuses: 'user token' };
  if (caller?.kind === 'user' && membership.tokensUntil !== undefined && membership.tokensUntil <= now()) {
    return { teams: [], refuses: 'old sign-in' };
  }
  if (caller && isOfUser(caller)) {
    if (isOlder(membership, caller)) return { teams: [], refuses: 'older token' };
    if (membership.ssoRequired && !isBySso(membership, caller)) return { teams: [], refuses: 'no single sign-on' };
  }
  if (caller && outlives(caller.kind, caller.lifetimeMs, membership.tokenLimits)) {
    return { teams: [], refuses: 'token lifetime' };
  }
  const role = roleOf(membership);
  // In parallel, so that a permitted request does not wait longer.
  const [refused, teams] = await Promise.all([
    caller ? isRefused(membership, caller) : false,
    role === 'member' ? teamsOf(membership) : [],
  ]);
  if (refused) return { teams: [], refuses: 'address' };
  return membership.breakGlass && caller && !caller.sso ? { role, teams, breakGlass: true } : { role, teams };
};

/** Reads the standing, and the workspace in the same request if one is named. */
export type AskStanding = (
  organization: string,
  workspaceId?: string,
) => { standing: Promise<Standing>; workspace?: Promise<Workspace | undefined> };

export const askFor =
  (userId: string, caller?: Caller): AskStanding =>
  (organization, workspaceId) => {
    if (workspaceId === undefined) return { standing: standingOf(userId, organization, caller) };
    const records = getMembershipAndWorkspace(userId, organization, workspaceId);
    return {
      standing: records.then(({ membership }) => standingBy(membership, caller)),
      workspace: records.then(({ workspace }) => workspace),
    };
  };

/** 1 read. Returns no membership before the invitation is accepted, and no workspace that is being deleted. */
const getMembershipAndWorkspace = async (
  userId: string,
  organization: string,
  workspaceId: string,
): Promise<{ membership: Membership | undefined; workspace: Workspace | undefined }> => {
  const items = await batchGet<Key>([keys.membership(userId, organization), keys.workspace(workspaceId)]);
  const membership = items.find(({ sk }) => sk !== 'WS') as (Membership & Key) | undefined;
  const workspace = items.find(({ sk }) => sk === 'WS') as (Workspace & Key) | undefined;
  return { membership: accepted(membership), workspace: workspace?.deletedAt ? undefined : workspace };
};
