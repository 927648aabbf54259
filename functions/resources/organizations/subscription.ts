import { one, type Resource } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import { environment } from '#platform/environment.ts';
import { ceilingOf } from '#run/slots.ts';
import { entitlementsDocument } from './entitlement-document.ts';
import type { Organization } from './records.ts';

/**
 * Plan and payment data that clients read: every organization has the same plan, with all entitlements and without
 * expiry (HCP API: feature sets, subscriptions).
 */

const planName = 'Self-hosted';
const featureSetId = 'fs-self-hosted';

export const featureSetDocument = (): Resource => {
  const { operations: _, ...entitlements } = entitlementsDocument({ externalId: '' } as Organization).attributes;
  return {
    id: featureSetId,
    type: 'feature-sets',
    attributes: {
      name: planName,
      identifier: 'self_hosted',
      description: 'All features of this platform',
      plan: null,
      cost: 0,
      'is-current': true,
      'is-free-tier': false,
      'is-managed-resource-plan': false,
      'can-self-service-downgrade': false,
      ...entitlements,
    },
  };
};

/** Contains the organization's name, so that finding it takes no extra read. */
const idOf = ({ name }: Organization): string => `sub-${nameOf(name)}`;

export const subscriptionDocument = (record: Organization): Resource => ({
  id: idOf(record),
  type: 'subscriptions',
  attributes: {
    'is-active': true,
    'start-at': record.createdAt,
    'end-at': null,
    'runs-ceiling': ceilingOf(environment.maxRunners, record.name) ?? null,
    'agents-ceiling': null,
    'contract-start-at': null,
    'contract-user-limit': null,
    'contract-apply-limit': null,
    'is-public-free-tier': false,
    'is-self-serve-trial': false,
  },
  relationships: {
    organization: one('organizations', record.name),
    'feature-set': one('feature-sets', featureSetId),
  },
  links: { self: `/api/v2/subscriptions/${idOf(record)}` },
});
