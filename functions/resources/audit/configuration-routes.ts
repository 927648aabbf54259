import * as v from 'valibot';
import { type Answer, json, ok, one, type Resource } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readData } from '#api/validation.ts';
import { derivedId } from '#platform/store/id.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import type { Organization } from '#resources/organizations/records.ts';

/**
 * Settings of the audit trail that clients read (go-tfe: organization audit configurations). The trail is always on,
 * and it is exported by export-routes.ts instead of HCP's log streaming.
 */

const document = ({ name, externalId, createdAt }: Organization): Resource => ({
  id: derivedId('aconf', externalId),
  type: 'audit-configurations',
  attributes: {
    'audit-trails': { enabled: true },
    'hcp-audit-log-streaming': { enabled: false, 'organization-id': null, 'use-default-organization': false },
    permissions: {
      'can-enable-hcp-audit-log-streaming': false,
      'can-set-hcp-audit-log-streaming-organization-id': false,
      'can-use-default-audit-log-streaming-organization': false,
    },
    timestamps: { 'audit-trails-enabled-at': createdAt },
    'updated-at': createdAt,
  },
  relationships: { organization: one('organizations', name) },
  links: { self: `/api/v2/organizations/${nameOf(name)}/audit-configuration` },
});

const noStreaming =
  'is not supported: there is no log streaming to HCP. Export the trail with PUT /api/v2/organizations/NAME/audit-export';

const attributes = {
  'audit-trails': v.optional(
    v.strictObject({ enabled: v.literal(true, 'must be true: the audit trail is always on') }),
  ),
  'hcp-audit-log-streaming': v.optional(
    v.strictObject({
      enabled: v.optional(v.literal(false, noStreaming)),
      'organization-id': v.nullish(v.literal('', noStreaming)),
      'use-default-organization': v.optional(v.literal(false, noStreaming)),
    }),
  ),
};

const shown = async ({ subject }: Context<InOrganization>): Promise<Answer> => ok(document(subject.record));

/** Changes nothing, because each setting has one supported value. */
const update = async (context: Context<InOrganization>): Promise<Answer> => {
  readData(context.request, attributes, {}, { shown: 'permissions timestamps updated-at', related: 'organization' });
  return shown(context);
};

/** The audit event of this request is the test event; the response has its request id. */
const test = async ({ request }: Context<InOrganization>): Promise<Answer> => {
  if (request.text()) readData(request, {});
  return json(200, { 'request-id': request.id }, 'application/json');
};

const path = '/organizations/{organization}/audit-configuration';

export const auditConfigurationRoutes: Route[] = [
  route('GET', path, 'audit:read', organization, shown),
  route('PATCH', path, 'organization:update', organization, update),
  route('POST', `${path}/test`, 'organization:update', organization, test),
];
