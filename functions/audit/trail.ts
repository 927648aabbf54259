import { randomUUID } from 'node:crypto';
import type { Answer } from '../api/answer.ts';
import { ApiError } from '../api/errors.ts';
import type { Principal } from '../api/permissions/principal.ts';
import type { ApiRequest } from '../api/request.ts';
import { membershipsOf } from '../people/accounts/memberships.ts';
import { type ChangeRecord, keepRecord, recorded } from '../store/change-record.ts';
import { type AuditEvent, keepEvent, keepFailure } from './records.ts';

/**
 * What goes into the audit trail, told from a route's method and path: every change, allowed or refused, and reads of what
 * is secret. Never anything of a body, a query or an answer.
 */

const verbs: Record<string, string> = {
  GET: 'show',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'destroy',
};

const plain = (text: string): string => text.replaceAll('-', '_');
const singular = (collection: string): string => plain(collection.replace(/ies$/, 'y').replace(/s$/, ''));

/** In the API's own words (HCP API: audit trails): `workspace lock`, `var create`. */
export interface Deed {
  type: string;
  action: string;
  /** The path parameter that names it, or for what is created, what it is created in. */
  parameter: string | undefined;
  creates: boolean;
}

/** @param path of a route, with its parameters in braces */
export const deedOf = (method: string, path: string): Deed => {
  const parts = path.replace(/^\/(api\/v2\/)?/, '').split('/');
  const last = parts.findLastIndex((part) => part.startsWith('{'));
  const parameter = last < 0 ? undefined : parts[last]?.slice(1, -1);
  const owner = singular(parts[Math.max(0, last - 1)] ?? '');
  const verb = verbs[method] ?? method;
  const [first, ...rest] = parts.slice(last < 0 ? 1 : last + 1);
  const deed = { type: owner, parameter, creates: false };
  if (method === 'POST' && first !== 'actions' && first !== 'relationships') {
    const type = singular(parts.at(-1) ?? '');
    return {
      type: type === 'task' && owner === 'workspace' ? 'workspace_task' : type,
      action: 'create',
      parameter,
      creates: true,
    };
  }
  if (first === undefined) return { ...deed, action: verb };
  if (first === 'actions') return { ...deed, action: plain(rest.join('_')) };
  if (first === 'relationships') return { ...deed, action: `${verb}_${plain(rest.join('_'))}` };
  return { ...deed, action: plain([first, ...rest].join('_')) };
};

/** Reads of what is secret: states and outputs as they are, plans in full, configurations. */
const secret = /\/(download|json-download|json-output)$|\/state-version-outputs\/\{\w+\}$/;

export const isAudited = (method: string, path: string): boolean => method !== 'GET' || secret.test(path);

interface Doing {
  request: ApiRequest;
  principal: Pick<Principal, 'userId' | 'kind'> & { tokenId?: string };
  deed: Deed;
  organization: string;
  /** What the path's last parameter stands for, where that is a name. */
  id?: string;
}

const eventOf = ({ request, principal, deed, organization, id }: Doing, allowed: boolean): AuditEvent => ({
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
});

/** 1 write. */
export const recordRefusal = (doing: Doing): Promise<void> => keepEvent(eventOf(doing, false));

const statusOf = (error: unknown): number => (error instanceof ApiError ? error.status : 500);

/** Does it, with a record that is kept when something changes; 1 write, and another when it comes to nothing after all. */
const doing = async (
  events: () => Promise<AuditEvent[]>,
  { deed, method }: { deed: Deed; method: string },
  handle: () => Promise<Answer>,
): Promise<Answer> => {
  let kept: AuditEvent[] = [];
  const record: ChangeRecord = {
    ids: [],
    keep: async () => {
      const made = deed.creates ? record.ids[0] : undefined;
      kept = (await events()).map((event) => (made ? { ...event, resource: { ...event.resource, id: made } } : event));
      await Promise.all(kept.map(keepEvent));
    },
  };
  const failed = async (status: number): Promise<void> => {
    await record.kept;
    await Promise.all(kept.map((event) => keepFailure(event, status)));
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
    await failed(statusOf(error)).catch((why) =>
      console.error('an event of the audit trail is not as it should be', why),
    );
    throw error;
  }
};

export const inTrail = (about: Doing, handle: () => Promise<Answer>): Promise<Answer> => {
  const event = eventOf(about, true);
  return doing(async () => [event], { deed: about.deed, method: about.request.method }, handle);
};

const nameIn = ({ body = '{}' }: Answer): string => (JSON.parse(body) as { data: { id: string } }).data.id;

/** What somebody does to the own account is for every organization to know that lets them in. */
export const inTrails = async (about: Omit<Doing, 'organization'>, handle: () => Promise<Answer>): Promise<Answer> => {
  const { deed, principal, request } = about;
  const createsOrganization = deed.creates && deed.type === 'organization';
  const event = eventOf({ ...about, organization: '' }, true);
  const events = async () =>
    createsOrganization
      ? []
      : (await membershipsOf(principal.userId)).map(({ organization }) => ({ ...event, organization }));
  const answer = await doing(events, { deed, method: request.method }, handle);
  // Before it is there nobody can tell whose trail that is.
  if (createsOrganization) {
    const organization = nameIn(answer);
    await keepEvent({ ...event, organization, resource: { type: deed.type, id: organization } });
  }
  return answer;
};
