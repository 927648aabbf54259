import { getUsers } from '#resources/users/users.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import { withNames } from './names.ts';
import type { AuditEvent } from './records.ts';

/** Outcome of the request: allowed, refused or failed. */
export const outcomeOf = ({
  allowed,
  failed,
}: Pick<AuditEvent, 'allowed' | 'failed'>): 'allowed' | 'refused' | 'failed' =>
  !allowed ? 'refused' : failed ? 'failed' : 'allowed';

/** HCP Terraform's format, which is not JSON:API; `meta` holds values for which it has no field. */
const auditEventDocument = (
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

const namesOf = async (events: AuditEvent[]): Promise<Map<string, string>> => {
  const ids = [...new Set(events.map(({ actor }) => actor))];
  return new Map((await getUsers(ids)).map(({ id, username }) => [id, username]));
};

const namelessWorkspace = ({ meta, resource }: AuditEvent): string | undefined => {
  if (meta?.workspace !== undefined) return undefined;
  const id = meta?.workspace_id ?? (resource.type === 'workspace' ? (resource.id ?? undefined) : undefined);
  // In the environments' API, environments are called workspaces.
  return id?.startsWith('ws-') ? id : undefined;
};

/**
 * Adds the workspace's name to events that contain only its id. 1 read per batch. Leaves out workspaces of other
 * organizations, as in names.ts.
 */
const withWorkspaceNames = async (organization: string, events: AuditEvent[]): Promise<AuditEvent[]> => {
  const ids = new Set(events.flatMap((event) => namelessWorkspace(event) ?? []));
  const here = (await getWorkspaces([...ids])).filter((workspace) => workspace.organization === organization);
  const names = new Map(here.map(({ id, name }) => [id, name]));
  return events.map((event) => {
    const id = namelessWorkspace(event);
    const former = event.workspaceName ?? (event.resource.type === 'workspace' ? event.name : undefined);
    const workspace = id && (names.get(id) ?? former);
    return workspace ? { ...event, meta: { ...event.meta, workspace_id: id, workspace } } : event;
  });
};

/**
 * Documents of events with the names of actors and workspaces. 1 read per 100 of each.
 * @param withResources with the names of their resources; 1 read more per 100
 */
export const auditDocuments = async (
  { name, externalId = null }: { name: string; externalId?: string | null },
  events: AuditEvent[],
  { withResources }: { withResources: boolean },
): Promise<Record<string, unknown>[]> => {
  const [names, named] = await Promise.all([namesOf(events), withWorkspaceNames(name, events)]);
  const shown = withResources ? await withNames(named) : named;
  return shown.map((event) =>
    auditEventDocument(event, { organizationId: externalId, actor: names.get(event.actor) ?? null }),
  );
};
