import { nameOf } from '#api/naming.ts';
import { type AuditEvent, eventsSince } from '#resources/audit/records.ts';
import { getUsers } from '#resources/users/users.ts';
import { ok } from '../host/answers.ts';
import { pageIn, searchIn } from '../host/body.ts';
import { forbidden, invalidQuery } from '../host/errors.ts';
import { type Call, type Route, route } from '../host/route.ts';
import { isUuid, prebuildsUser, uuidOf } from '../host/uuid.ts';
import { minimalUser, organizationDocument, organizationsOf } from '../people/users.ts';

/** Events of the audit trail about environments, in the form of Coder's API: newest first. */

/** Names of the trail's types in Coder's API. */
const types: Record<string, string> = {
  workspace: 'workspace',
  workspace_build: 'workspace_build',
  template: 'template',
  template_version: 'template_version',
  authentication_token: 'api_key',
  prebuilds_settings: 'prebuilds_settings',
};

const same = new Set(['create', 'start', 'stop', 'delete', 'login', 'logout']);

const actionOf = (action: string): string => {
  if (same.has(action)) return action;
  return action === 'destroy' ? 'delete' : 'write';
};

const nil = '00000000-0000-0000-0000-000000000000';

type Organization = Awaited<ReturnType<typeof organizationsOf>>[number];

const statusOf = ({ allowed, failed }: AuditEvent): number => (allowed ? (failed ?? 200) : 403);

const document = (event: AuditEvent, organization: Organization, username: string | undefined) => {
  const { id, at, requestId, address, agent, resource, action, meta = {}, actor } = event;
  const described = `${username ?? actor} ${action} ${types[resource.type]?.replaceAll('_', ' ')}`;
  return {
    id,
    request_id: requestId && isUuid(requestId) ? requestId : uuidOf(requestId ?? id),
    time: at,
    ip: address ?? '',
    user_agent: agent ?? '',
    resource_type: types[resource.type],
    resource_id: resource.id && isUuid(resource.id) ? resource.id : nil,
    resource_target: meta.workspace_name ?? '',
    resource_icon: '',
    action: actionOf(action),
    diff: meta.template_version_id
      ? { template_version_id: { old: '', new: meta.template_version_id, secret: false } }
      : {},
    status_code: statusOf(event),
    additional_fields: meta,
    description: described,
    resource_link: '',
    is_deleted: false,
    organization: organizationDocument(organization, false),
    organization_id: uuidOf(organization.name),
    user: username === undefined ? null : minimalUser(actor, username),
  };
};

const searchKeys = [
  'resource_type',
  'resource_id',
  'resource_target',
  'action',
  'username',
  'date_from',
  'date_to',
  'build_reason',
  'request_id',
  'organization',
];

const usualMs = 14 * 86_400_000;
/** Maximum number of events; a date narrows the list. */
const maxEvents = 5000;

const timeOf = (search: Map<string, string>, key: string): string | undefined => {
  const text = search.get(key);
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return new Date(at + (key === 'date_to' && text.length === 10 ? 86_399_999 : 0)).toISOString();
  throw invalidQuery({ field: key, detail: `Query param "${key}" must be a date such as 2030-01-31` });
};

const fits =
  (search: Map<string, string>) =>
  (row: ReturnType<typeof document>): boolean => {
    const is = (key: string, value: string | undefined) =>
      search.get(key) === undefined || search.get(key) === (value ?? '').toLowerCase();
    return (
      is('resource_type', row.resource_type) &&
      is('resource_id', row.resource_id) &&
      is('resource_target', row.resource_target) &&
      is('action', row.action) &&
      is('username', row.user?.username) &&
      is('build_reason', row.additional_fields.build_reason) &&
      is('request_id', row.request_id) &&
      is('organization', nameOf(row.organization.name))
    );
  };

/** Organizations whose audit trail the caller may read. @throws {CoderError} 403 */
export const readableAudits = async ({ principal }: Call): Promise<Organization[]> => {
  const organizations: Organization[] = [];
  for (const organization of await organizationsOf(principal)) {
    if ((await principal.on({ organization: organization.name })).has('audit:read')) organizations.push(organization);
  }
  if (organizations.length === 0) throw forbidden();
  return organizations;
};

const list = async (call: Call) => {
  const organizations = await readableAudits(call);
  const search = searchIn(call.request, searchKeys);
  const since = timeOf(search, 'date_from') ?? new Date(Date.now() - usualMs).toISOString();
  const until = timeOf(search, 'date_to');
  const events: [AuditEvent, Organization][] = [];
  for (const organization of organizations) {
    let readCount = 0;
    for await (const event of eventsSince(organization.name, since, 'backward')) {
      if (++readCount > maxEvents) break;
      if (event.resource.type in types && (!until || event.at <= until)) events.push([event, organization]);
    }
  }
  const users = await getUsers([...new Set(events.map(([{ actor }]) => actor))]);
  const names = new Map(users.map(({ id, username }) => [id, username]));
  names.set(prebuildsUser.id, prebuildsUser.username);
  const rows = events
    .map(([event, organization]) => document(event, organization, names.get(event.actor)))
    .filter(fits(search))
    .sort((a, b) => (a.time < b.time ? 1 : -1));
  const { limit, offset } = pageIn(call.request);
  return ok({ audit_logs: rows.slice(offset, offset + limit), count: rows.length });
};

export const auditRoutes: Route[] = [route('GET', '/audit', list, { query: ['q', 'limit', 'offset'] })];
