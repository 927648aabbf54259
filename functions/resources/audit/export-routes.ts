import * as v from 'valibot';
import { type Answer, ok, one } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { outboundUrl } from '#api/outbound-url.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { readData } from '#api/validation.ts';
import { derivedId } from '#platform/store/id.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { type AuditExport, endAuditExport, getAuditExport, setAuditExport } from './export-records.ts';

/**
 * Continuous export of the audit trail (infra/docs/audit-trail.md). Not in HCP's API, whose log streaming needs its other
 * products.
 */

export const auditExportDocument = (
  { url, headerNames, createdAt, sequence, until, deliveredAt, failure, failingSince }: AuditExport,
  { name, externalId }: InOrganization['record'],
) => ({
  id: derivedId('aexp', externalId),
  type: 'audit-exports',
  attributes: {
    url,
    'header-names': headerNames,
    'created-at': createdAt,
    sequence,
    'exported-until': until,
    'delivered-at': deliveredAt ?? null,
    failure: failure ?? null,
    'failing-since': failingSince ?? null,
  },
  relationships: { organization: one('organizations', name) },
  links: { self: `/api/v2/organizations/${nameOf(name)}/audit-export` },
});

/** Headers that the request has anyway, or that would change what it is. */
const reserved =
  /^(host|connection|expect|te|trailer|transfer-encoding|upgrade|user-agent|cookie|content-.*|proxy-.*|x-stepform-.*)$/i;

const headerName = v.pipe(
  v.string('must be a text'),
  v.regex(/^[A-Za-z0-9-]{1,64}$/, 'must be names of 1 to 64 letters, digits and hyphens'),
  v.check((name) => !reserved.test(name), 'cannot be set: choose a header for credentials, e.g. Authorization'),
);
const headerValue = v.pipe(
  v.string('must be a text'),
  v.regex(/^[\x21-\x7e][\x20-\x7e]{0,3999}$/, 'must be 1 to 4,000 ASCII characters'),
);

const attributes = {
  url: outboundUrl,
  headers: v.optional(
    v.pipe(
      v.record(headerName, headerValue),
      v.check((headers) => Object.keys(headers).length <= 5, 'must be at most five'),
    ),
    {},
  ),
};

const shown = 'header-names created-at sequence exported-until delivered-at failure failing-since';

const read = async ({ subject }: Context<InOrganization>): Promise<Answer> => {
  const found = await getAuditExport(subject.organization);
  if (!found) throw notFound('The audit trail of this organization is not exported. Set an endpoint with PUT.');
  return ok(auditExportDocument(found, subject.record));
};

/** Replaces the endpoint and its headers, which are never sent to another URL than the one that they were given with. */
const set = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const { url, headers } = readData(request, attributes, {}, { shown, related: 'organization' }).attributes;
  return ok(auditExportDocument(await setAuditExport(subject.organization, url, headers), subject.record));
};

const end = noContentAfter(({ organization }: InOrganization) => endAuditExport(organization));

const path = '/organizations/{organization}/audit-export';

export const auditExportRoutes: Route[] = [
  route('GET', path, 'audit:read', organization, read),
  route('PUT', path, 'organization:update', organization, set),
  route('DELETE', path, 'organization:update', organization, end),
];
