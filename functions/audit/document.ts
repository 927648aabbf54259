import type { AuditEvent } from './records.ts';

/** As HCP Terraform documents them, which is not JSON:API; what it has no field for is in `meta`. */
export const auditEventDocument = (
  { id, at, actor, by, tokenId, requestId, address, agent, resource, action, allowed, failed, meta }: AuditEvent,
  names: { organizationId: string | null; actor: string | null },
): Record<string, unknown> => ({
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
      outcome: !allowed ? 'refused' : failed ? 'failed' : 'allowed',
      ...(failed ? { status: failed } : {}),
      ...(by === 'platform' ? {} : { token_kind: by, token_id: tokenId, address, user_agent: agent }),
    },
  },
});
