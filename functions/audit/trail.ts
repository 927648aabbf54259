import { randomUUID } from 'node:crypto';
import type { Answer } from '../api/answer.ts';
import type { AuditAction } from '../api/audit-action.ts';
import type { AuditContext } from '../api/authority.ts';
import { ApiError } from '../api/errors.ts';
import { membershipsOf } from '../people/accounts/memberships.ts';
import { type ChangeRecord, keepRecord, recorded } from '../store/change-record.ts';
import { logError } from '../store/log.ts';
import { type AuditEvent, keepEvent, keepFailure } from './records.ts';

/**
 * What goes into the audit trail, told from a route's method and path: every change, allowed or refused, and reads of what
 * is secret. Never anything of a body, a query or an answer.
 */

const eventOf = (
  { request, principal, deed, organization, id, workspaceId }: AuditContext,
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
  resource: { type: deed.type, id: id ?? (deed.parameter ? (request.params[deed.parameter] ?? null) : null) },
  action: deed.action,
  allowed,
  ...(workspaceId ? { meta: { workspace_id: workspaceId } } : {}),
});

/** 1 write. */
export const recordRefusal = (doing: AuditContext): Promise<void> => keepEvent(eventOf(doing, false));

const statusOf = (error: unknown): number => (error instanceof ApiError ? error.status : 500);

/** Does it, with a record that is kept when something changes; 1 write, and another when it comes to nothing after all. */
const withAuditEvents = async (
  events: () => Promise<AuditEvent[]>,
  { deed, method }: { deed: AuditAction; method: string },
  handle: () => Promise<Answer>,
): Promise<Answer> => {
  let drafts: AuditEvent[] = [];
  const record: ChangeRecord = {
    ids: [],
    keep: async () => {
      const createdId = deed.creates ? record.ids[0] : undefined;
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
  // Who reads changes nothing, and it is recorded all the same.
  const reading = method === 'GET' ? keepRecord(record) : undefined;
  reading?.catch(() => {});
  try {
    const answer = await recorded(record, handle);
    if ((answer.statusCode ?? 200) >= 400) await failed(answer.statusCode ?? 500);
    else await keepRecord(record);
    return answer;
  } catch (error) {
    await failed(statusOf(error)).catch((why) => logError('malformed audit event', why));
    throw error;
  }
};

export const withAudit = (about: AuditContext, handle: () => Promise<Answer>): Promise<Answer> => {
  const event = eventOf(about, true);
  return withAuditEvents(async () => [event], { deed: about.deed, method: about.request.method }, handle);
};

const nameIn = ({ body = '{}' }: Answer): string => (JSON.parse(body) as { data: { id: string } }).data.id;

/** What somebody does to the own account is for every organization to know that lets them in. */
export const withAuditInAllOrganizations = async (
  about: Omit<AuditContext, 'organization'>,
  handle: () => Promise<Answer>,
): Promise<Answer> => {
  const { deed, principal, request } = about;
  const createsOrganization = deed.creates && deed.type === 'organization';
  const event = eventOf({ ...about, organization: '' }, true);
  const events = async () =>
    createsOrganization
      ? []
      : (await membershipsOf(principal.userId)).map(({ organization }) => ({ ...event, organization }));
  const answer = await withAuditEvents(events, { deed, method: request.method }, handle);
  // Before it is there nobody can tell whose trail that is.
  if (createsOrganization) {
    const organization = nameIn(answer);
    await keepEvent({ ...event, organization, resource: { type: deed.type, id: organization } });
  }
  return answer;
};
