import { type Answer, json } from '#api/answer.ts';
import { addressRefused, badRequest, forbidden, organizationRenamed, tooLongToken } from '#api/errors.ts';
import { includable } from '#api/include.ts';
import { isNamed, keyOfRenamed, nameOf } from '#api/naming.ts';
import { pageOf, totalOf } from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Call, checkRefusal, type Route, userRoute } from '#api/route.ts';
import { permitsCaller } from '#resources/ip-allowlists/enforcement.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { outlives, tokenLimits } from '#resources/organizations/token-ttl-record.ts';
import { membershipsOf } from '#resources/users/memberships.ts';
import { auditDocuments, outcomeOf } from './document.ts';
import { type AuditEvent, type Direction, eventsSince } from './records.ts';

/** HCP Terraform's default and maximum. */
const pageSize = 1000;
/** Each page reads from the first event on; to read further, clients advance `since`. */
const maxEvents = 20_000;
/** Without `since`, events of the last 14 days are listed: HCP Terraform's retention. */
const usualMs = 14 * 86_400_000;

const timeIn = (request: ApiRequest): string => {
  const text = request.query.get('since');
  if (!text) return new Date(Date.now() - usualMs).toISOString();
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(Date.parse(text))) {
    throw badRequest('since must be a time such as 2030-01-31T00:00:00.000Z.', 'since');
  }
  return new Date(text).toISOString();
};

/** Oldest first by default, as in HCP Terraform. */
const directionIn = ({ query }: ApiRequest): Direction => {
  const sort = query.get('sort') || 'timestamp';
  if (sort === 'timestamp') return 'forward';
  if (sort === '-timestamp') return 'backward';
  throw badRequest('sort must be timestamp or -timestamp.', 'sort');
};

const outcomes = ['allowed', 'refused', 'failed'] as const;

/** Filter of the requested events. Events are stored by time only, so all are read and the others skipped. */
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

/**
 * The path does not name an organization: an organization token implies it, and a member of several has to name one.
 */
const organizationOf = async ({ request, principal }: Call): Promise<string> => {
  const parameter = 'filter[organization][name]';
  const named = request.query.get(parameter);
  // An audit trail token has no other use.
  if (principal.kind === 'audit-trails' && principal.organization) return principal.organization;
  const key = named && ((await keyOfRenamed(named)) ?? named);
  const all = key ? [key] : (await membershipsOf(principal.userId)).map(({ organization }) => organization);
  const readable: string[] = [];
  for (const organization of all) {
    if ((await principal.on({ organization })).has('audit:read')) readable.push(organization);
  }
  const [first, another] = readable;
  if (first && named && !isNamed(first, named)) throw organizationRenamed({ former: named, current: nameOf(first) });
  if (!first) {
    for (const organization of all) await checkRefusal(principal, organization, request.address);
    throw forbidden(
      'Reading the audit trail needs the permission audit:read, which owners and organization tokens have.',
    );
  }
  if (another)
    throw badRequest(`${parameter} is required. Name an organization, e.g. ${parameter}=${nameOf(first)}.`, parameter);
  return first;
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
  const record = await getOrganization(organization);
  // An audit trail token has no membership that could carry limits and the allowlist flag, so both are checked here.
  if (record && outlives(principal.kind, principal.lifetimeMs, tokenLimits(record)))
    throw tooLongToken(nameOf(organization));
  const unchecked = principal.kind === 'audit-trails' && record?.ipAllowlists !== undefined;
  if (unchecked && !(await permitsCaller(organization, request.address))) {
    throw addressRefused(nameOf(organization), request.address);
  }
  const total = totalOf({ page, size }, matched, matched > page * size);
  const pages = Math.max(1, Math.ceil(total / size));
  const data = await auditDocuments(record ?? { name: organization }, events, {
    withResources: withExtras.of(request).has('names'),
  });
  const pagination = {
    current_page: page,
    prev_page: page > 1 ? page - 1 : null,
    next_page: page < pages ? page + 1 : null,
    total_pages: pages,
    total_count: total,
    // Present when a filter skips more events than one request reads.
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
