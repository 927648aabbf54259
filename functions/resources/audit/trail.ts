import { randomUUID } from 'node:crypto';
import type { Answer } from '#api/answer.ts';
import type { AuditAction } from '#api/audit-action.ts';
import type { AuditContext } from '#api/authority.ts';
import { ApiError } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { type ChangeRecord, keepRecord, recorded } from '#platform/store/change-record.ts';
import { logError } from '#platform/store/log.ts';
import { membershipsOf } from '#resources/users/memberships.ts';
import { nameOfResource } from './names.ts';
import { type AuditEvent, keepEvent, keepFailure } from './records.ts';

/**
 * Records events of the audit trail, derived from a route's method and path: every change, allowed or refused, and
 * reads of secrets. Events contain no bodies, queries or responses.
 */

const eventOf = (
  {
    request,
    principal,
    auditAction,
    organization,
    id,
    name,
    workspaceId,
    workspaceName,
    breakGlass,
    meta,
  }: AuditContext,
  allowed: boolean,
): AuditEvent => ({
  id: randomUUID(),
  at: new Date().toISOString(),
  organization,
  actor: principal.userId,
  by: principal.kind,
  tokenId: principal.tokenId,
  requestId: request.id,
  address: request.address,
  agent: request.header('user-agent')?.slice(0, 200),
  resource: {
    type: auditAction.type,
    id: id ?? idIn(request, auditAction),
  },
  action: auditAction.action,
  allowed,
  name,
  workspaceName,
  ...metaOf({ ...meta, ...(workspaceId ? { workspace_id: workspaceId } : {}), ...(breakGlass ? breakGlassMeta : {}) }),
});

const breakGlassMeta = { break_glass: 'true' };

const metaOf = (meta: Record<string, string>): Pick<AuditEvent, 'meta'> => (Object.keys(meta).length ? { meta } : {});

const idIn = ({ params }: AuditContext['request'], { parameter }: AuditAction): string | null => {
  const id = parameter ? params[parameter] : undefined;
  // Path parameters have the key of a renamed organization.
  return id && parameter === 'organization' ? nameOf(id) : (id ?? null);
};

/** 1 write. */
export const recordRefusal = (context: AuditContext): Promise<void> => keepEvent(eventOf(context, false));

const statusOf = (error: unknown): number => (error instanceof ApiError ? error.status : 500);

/** Runs the request and records it when something changes; 1 write, and another if the request fails afterwards. */
const withAuditEvents = async (
  events: () => Promise<AuditEvent[]>,
  { auditAction, method }: { auditAction: AuditAction; method: string },
  handle: () => Promise<Answer>,
): Promise<Answer> => {
  let drafts: AuditEvent[] = [];
  const record: ChangeRecord = {
    ids: [],
    keep: async () => {
      const createdId = auditAction.creates ? record.ids[0] : undefined;
      drafts = (await events()).map((event) =>
        createdId ? { ...event, resource: { ...event.resource, id: createdId } } : event,
      );
      await Promise.all(drafts.map(keepEvent));
    },
  };
  const failed = async (status: number): Promise<void> => {
    await record.kept;
    await Promise.all(drafts.map((event) => keepFailure(event, status)));
  };
  // A read changes nothing, but is recorded too.
  const reading = method === 'GET' ? keepRecord(record) : undefined;
  reading?.catch(() => {});
  try {
    const answer = await recorded(record, handle);
    await keepRecord(record);
    return answer;
  } catch (error) {
    await failed(statusOf(error)).catch((why) => logError('malformed audit event', why));
    throw error;
  }
};

/** The name of a resource that was not read for the request, such as a variable of a workspace. */
const named = async (event: AuditEvent): Promise<AuditEvent> =>
  event.name === undefined ? { ...event, name: await nameOfResource(event) } : event;

export const withAudit = (context: AuditContext, handle: () => Promise<Answer>): Promise<Answer> => {
  const event = eventOf(context, true);
  return withAuditEvents(
    async () => [context.request.method === 'DELETE' ? await named(event) : event],
    { auditAction: context.auditAction, method: context.request.method },
    handle,
  );
};

const nameIn = ({ body = '{}' }: Answer): string => (JSON.parse(body) as { data: { id: string } }).data.id;

/** Changes to a user's own account are recorded in every organization of the user. */
export const withAuditInAllOrganizations = async (
  about: Omit<AuditContext, 'organization'>,
  handle: () => Promise<Answer>,
): Promise<Answer> => {
  const { auditAction, principal, request } = about;
  const createsOrganization = auditAction.creates && auditAction.type === 'organization';
  const event = eventOf({ ...about, organization: '' }, true);
  const events = async () =>
    createsOrganization
      ? []
      : (await membershipsOf(principal.userId)).map(({ organization, breakGlass }) => ({
          ...event,
          ...(breakGlass && !principal.sso ? { meta: breakGlassMeta } : {}),
          organization,
        }));
  const answer = await withAuditEvents(events, { auditAction, method: request.method }, handle);
  // The organization did not exist before this request.
  if (createsOrganization) {
    const organization = nameIn(answer);
    await keepEvent({ ...event, organization, resource: { type: auditAction.type, id: organization } });
  }
  return answer;
};
