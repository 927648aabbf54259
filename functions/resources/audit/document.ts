import type { AuditEvent } from './records.ts';

/** Outcome of the request: allowed, refused or failed. */
export const outcomeOf = ({
  allowed,
  failed,
}: Pick<AuditEvent, 'allowed' | 'failed'>): 'allowed' | 'refused' | 'failed' =>
  !allowed ? 'refused' : failed ? 'failed' : 'allowed';

/** HCP Terraform's format, which is not JSON:API; `meta` holds values for which it has no field. */
export const auditEventDocument = (
  event: AuditEvent,
  names: { organizationId: string | null; actor: string | null },
): Record<string, unknown> => {
  const { id, at, actor, by, tokenId, requestId, address, agent, resource, action, failed, meta } = event;
  return {
    id,
    version: '0',
    type: 'Resource',
    timestamp: at,
    auth: {
      accessor_id: actor,
      description: names.actor,
      type: by === 'platform' ? 'System' : 'Client',
      impersonator_id: null,
      organization_id: names.organizationId,
    },
    request: { id: requestId ?? null },
    resource: {
      ...resource,
      action,
      meta: {
        ...meta,
        outcome: outcomeOf(event),
        ...(failed ? { status: failed } : {}),
        ...(by === 'platform' ? {} : { token_kind: by, token_id: tokenId, address, user_agent: agent }),
      },
    },
  };
};
