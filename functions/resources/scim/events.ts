import { randomUUID } from 'node:crypto';
import { now } from '#platform/store/time.ts';
import { keepEvent } from '#resources/audit/records.ts';
import type { Team } from '#resources/teams/team.ts';
import { membershipId } from '#resources/users/memberships.ts';
import { actorOf, type ScimCall } from './call.ts';

/** Effects of a directory's request in the audit trail, beside the request itself. 1 write each. */

const keep = (
  call: ScimCall,
  resource: { type: string; id: string },
  action: string,
  meta: Record<string, string>,
): Promise<void> => {
  const { kind: by, userId: actor, tokenId } = actorOf(call);
  const { request, home } = call;
  return keepEvent({
    id: randomUUID(),
    at: now(),
    organization: home.name,
    ...{ actor, by, tokenId, requestId: request.id, address: request.address, resource, action, meta },
    agent: request.header('user-agent')?.slice(0, 200),
    allowed: true,
  });
};

export const auditMembership = (
  call: ScimCall,
  userId: string,
  action: 'join_by_scim' | 'end_by_scim',
  meta: Record<string, string> = {},
): Promise<void> => {
  const id = membershipId({ organization: call.home.name, userId });
  return keep(call, { type: 'organization_membership', id }, action, { user_id: userId, ...meta });
};

export const auditTeam = (
  call: ScimCall,
  team: Pick<Team, 'id'>,
  userId: string,
  action: 'join_by_scim' | 'leave_by_scim',
): Promise<void> => keep(call, { type: 'team', id: team.id }, action, { user_id: userId });
