import { type Answer, json } from '#api/answer.ts';
import { addressRefused, badRequest, forbidden } from '#api/errors.ts';
import { includable } from '#api/include.ts';
import { pageOf, totalOf } from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Call, checkRefusal, type Route, userRoute } from '#api/route.ts';
import { permitsCaller } from '#resources/ip-allowlists/enforcement.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { membershipsOf } from '#resources/users/memberships.ts';
import { getUsers } from '#resources/users/users.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import { auditEventDocument, outcomeOf } from './document.ts';
import { withNames } from './names.ts';
import { type AuditEvent, type Direction, eventsSince } from './records.ts';

/** As many as HCP Terraform has at most, and when nothing is said. */
const pageSize = 1000;
/** Every page is read from the first event on; beyond this, `since` is to move on. */
const maxEvents = 20_000;
/** What HCP Terraform keeps. */
const usualMs = 14 * 86_400_000;

const timeIn = (request: ApiRequest): string => {
  const text = request.query.get('since');
  if (!text) return new Date(Date.now() - usualMs).toISOString();
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(Date.parse(text))) {
    throw badRequest('since must be a time such as 2030-01-31T00:00:00.000Z.', 'since');
  }
  return new Date(text).toISOString();
};

/** The oldest first, as HCP Terraform has it, unless the newest are asked for. */
const directionIn = ({ query }: ApiRequest): Direction => {
  const sort = query.get('sort') || 'timestamp';
  if (sort === 'timestamp') return 'forward';
  if (sort === '-timestamp') return 'backward';
  throw badRequest('sort must be timestamp or -timestamp.', 'sort');
};

const outcomes = ['allowed', 'refused', 'failed'] as const;

/** Which events are wanted. They are read and passed over, since a trail is kept in the order of time alone. */
const filterIn = ({ query }: ApiRequest): ((event: AuditEvent) => boolean) => {
  const [actor, type, action, workspace, outcome] = [
    'filter[actor][id]',
    'filter[resource][type]',
    'filter[action]',
    'filter[workspace][id]',
    'filter[outcome]',
  ].map((name) => query.get(name) || undefined);
  return (event) =>
    (!actor || event.actor === actor) &&
    (!type || event.resource.type === type) &&
    (!action || event.action === action) &&
    (!workspace || event.resource.id === workspace || event.meta?.workspace_id === workspace) &&
    (!outcome || outcomeOf(event) === outcome);
};

/** The path names no organization: an organization's token implies it, a member of several has to name it. */
const organizationOf = async ({ request, principal }: Call): Promise<string> => {
  const parameter = 'filter[organization][name]';
  const named = request.query.get(parameter);
  // Its token is for nothing but this.
  if (principal.kind === 'audit-trails' && principal.organization) return principal.organization;
  const all = named ? [named] : (await membershipsOf(principal.userId)).map(({ organization }) => organization);
  const readable: string[] = [];
  for (const organization of all) {
    if ((await principal.on({ organization })).has('audit:read')) readable.push(organization);
  }
  const [first, another] = readable;
  if (!first) {
    for (const organization of all) await checkRefusal(principal, organization, request.address);
    throw forbidden(
      'Reading the audit trail needs the permission audit:read, which owners and organization tokens have.',
    );
  }
  if (another)
    throw badRequest(`${parameter} is required. Name an organization, e.g. ${parameter}=${first}.`, parameter);
  return first;
};

const namesOf = async (events: AuditEvent[]): Promise<Map<string, string>> => {
  const ids = [...new Set(events.map(({ actor }) => actor))];
  return new Map((await getUsers(ids)).map(({ id, username }) => [id, username]));
};

const namelessWorkspace = ({ meta, resource }: AuditEvent): string | undefined => {
  if (meta?.workspace !== undefined) return undefined;
  return meta?.workspace_id ?? (resource.type === 'workspace' ? (resource.id ?? undefined) : undefined);
};

/**
 * Each event that names its workspace by id alone with its name, as long as there is one. A read of a batch. Another
 * organization's has no name here, as in names.ts.
 */
const withWorkspaceNames = async (organization: string, events: AuditEvent[]): Promise<AuditEvent[]> => {
  const ids = new Set(events.flatMap((event) => namelessWorkspace(event) ?? []));
  const here = (await getWorkspaces([...ids])).filter((workspace) => workspace.organization === organization);
  const names = new Map(here.map(({ id, name }) => [id, name]));
  return events.map((event) => {
    const id = namelessWorkspace(event);
    const workspace = id && names.get(id);
    return workspace ? { ...event, meta: { ...event.meta, workspace_id: id, workspace } } : event;
  });
};

const withExtras = includable('names');

const readTrail = async (call: Call): Promise<Answer> => {
  const { request, principal } = call;
  const { page, size } = pageOf(request, pageSize, pageSize);
  if (page * size > maxEvents) {
    throw badRequest(
      `page[number]: only the first ${maxEvents} events can be paged. To read on, set "since" to the timestamp of the last event.`,
      'page[number]',
    );
  }
  const since = timeIn(request);
  const direction = directionIn(request);
  const isWanted = filterIn(request);
  const organization = await organizationOf(call);
  const events: AuditEvent[] = [];
  let matched = 0;
  let read = 0;
  let searchedUntil: string | null = null;
  for await (const event of eventsSince(organization, since, direction)) {
    if (++read > maxEvents) {
      searchedUntil = event.at;
      break;
    }
    if (!isWanted(event)) continue;
    if (++matched > page * size) break;
    if (matched > (page - 1) * size) events.push(event);
  }
  const [record, names, named] = await Promise.all([
    getOrganization(organization),
    namesOf(events),
    withWorkspaceNames(organization, events),
  ]);
  // Its token is of no account, which could have it noted.
  const unchecked = principal.kind === 'audit-trails' && record?.ipAllowlists !== undefined;
  if (unchecked && !(await permitsCaller(organization, request.address))) {
    throw addressRefused(organization, request.address);
  }
  const total = totalOf({ page, size }, matched, matched > page * size);
  const pages = Math.max(1, Math.ceil(total / size));
  const organizationId = record?.externalId ?? null;
  const shown = withExtras.of(request).has('names') ? await withNames(organization, named) : named;
  const data = shown.map((event) =>
    auditEventDocument(event, { organizationId, actor: names.get(event.actor) ?? null }),
  );
  const pagination = {
    current_page: page,
    prev_page: page > 1 ? page - 1 : null,
    next_page: page < pages ? page + 1 : null,
    total_pages: pages,
    total_count: total,
    // Only where a filter passes over more events than one request reads.
    ...(searchedUntil === null ? {} : { searched_until: searchedUntil }),
  };
  return json(200, { data, pagination }, 'application/json');
};

export const auditTrailRoutes: Route[] = [
  userRoute('GET', '/organization/audit-trail', 'any user', readTrail, {
    since: 'text',
    sort: 'text',
    'filter[organization][name]': 'text',
    'filter[actor][id]': 'text',
    'filter[resource][type]': 'text',
    'filter[action]': 'text',
    'filter[workspace][id]': 'text',
    'filter[outcome]': { one: outcomes },
    include: withExtras,
  }),
];
