import { ok } from '#api/answer.ts';
import { inOrganization, param } from '#api/finders.ts';
import { nameOf } from '#api/naming.ts';
import { pageFrom, wholeList } from '#api/pagination.ts';
import { type Finder, type Route, route, userRoute } from '#api/route.ts';
import { type InOrganization, organization } from './finder.ts';
import { producersFor } from './module-sharing.ts';
import { findOrganization, type Organization } from './records.ts';
import { featureSetDocument, subscriptionDocument } from './subscription.ts';

const byId: Finder<InOrganization> = {
  what: 'subscription',
  parameter: 'subscription',
  find: async (request) => {
    const [, name] = /^sub-(.+)$/.exec(param(request, 'subscription')) ?? [];
    const record = name === undefined ? undefined : await findOrganization(name);
    return record && { organization: record.name, record };
  },
  visibleWith: 'organization:read',
  scope: inOrganization,
};

/** Members of other organizations see only its name. */
const producerDocument = ({ name }: Organization) => ({
  id: nameOf(name),
  type: 'organizations',
  attributes: { name: nameOf(name) },
});

const ofOrganization = '/organizations/{organization}';

export const subscriptionRoutes: Route[] = [
  userRoute('GET', '/feature-sets', 'any user', async ({ request }) => wholeList(request, [featureSetDocument()])),
  route('GET', `${ofOrganization}/feature-sets`, 'organization:read', organization, async ({ request }) =>
    wholeList(request, [featureSetDocument()]),
  ),
  route('GET', `${ofOrganization}/subscription`, 'organization:read', organization, async ({ subject }) =>
    ok(subscriptionDocument(subject.record)),
  ),
  route(
    'GET',
    `${ofOrganization}/relationships/module-producers`,
    'registry:read',
    organization,
    async ({ request, subject }) => pageFrom(request, await producersFor(subject.record), producerDocument),
  ),
  route('GET', '/subscriptions/{subscription}', 'organization:read', byId, async ({ subject }) =>
    ok(subscriptionDocument(subject.record)),
  ),
];
