import * as v from 'valibot';
import { type Answer, ok, type Resource } from '#api/answer.ts';
import { deletedMeanwhile } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readData } from '#api/validation.ts';
import { derivedId } from '#platform/store/id.ts';
import { type InOrganization, organization } from './finder.ts';
import type { Organization } from './records.ts';
import { carryTokenLimits, changedTtls, checkOwnToken, setTokenTtls } from './token-ttl.ts';
import { defaultTtlMs, policyTypes, tokenLimits } from './token-ttl-record.ts';

/**
 * Maximum lifetimes of tokens (HCP API: token TTL policies). While the organization's max-ttl-enabled is true, tokens
 * with a longer lifetime are rejected.
 */

/** Stored policies, and the defaults where they apply. */
const documents = (record: Organization): Resource[] => {
  const { name, tokenTtls = {}, createdAt } = record;
  const limits = tokenLimits(record);
  return policyTypes.flatMap((type) => {
    const maxTtlMs = limits?.[type];
    const standard = maxTtlMs && { maxTtlMs, createdAt, updatedAt: createdAt };
    const policy = tokenTtls[type] ?? standard;
    if (!policy) return [];
    return {
      id: derivedId('ottp', `${name} ${type}`),
      type: 'organization-token-ttl-policies',
      attributes: {
        'token-type': type,
        'max-ttl-ms': policy.maxTtlMs,
        'created-at': policy.createdAt,
        'updated-at': policy.updatedAt,
      },
    };
  });
};

const minuteMs = 60_000;
/** A hundred years. */
const longestMs = 50 * defaultTtlMs;

const elsewhere: Record<string, string> = {
  metrics: 'this platform has no metrics tokens',
};

const tokenType = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || (policyTypes as readonly string[]).includes(dataset.value)) return;
    const reason = elsewhere[dataset.value];
    addIssue({ message: reason ? `cannot be "${dataset.value}": ${reason}` : `must be of ${policyTypes.join(', ')}` });
  }),
  v.transform((type) => type as (typeof policyTypes)[number]),
);

const policies = v.array(
  v.strictObject({
    'token-type': tokenType,
    'max-ttl-ms': v.pipe(
      v.number(),
      v.integer('must be a whole number of milliseconds'),
      v.minValue(minuteMs, `must be one minute (${minuteMs}) at least`),
      v.maxValue(longestMs, `must be a hundred years (${longestMs}) at most`),
    ),
  }),
);

const otherFields: OtherFields = { shown: '', related: '' };

const update = async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
  const { attributes } = readData(request, { 'token-ttl-policies': policies }, {}, otherFields);
  const change = new Map(
    attributes['token-ttl-policies'].map((policy) => [policy['token-type'], policy['max-ttl-ms']]),
  );
  if (change.size === 0) return ok(documents(subject.record));
  const { maxTtlEnabled, tokenTtls } = subject.record;
  const ttls = changedTtls(subject.record, change);
  checkOwnToken(
    principal,
    { maxTtlEnabled, tokenTtls: { ...tokenTtls, ...ttls } },
    '/data/attributes/token-ttl-policies',
  );
  const updated = await setTokenTtls(subject.record, ttls);
  if (!updated) throw deletedMeanwhile('organization');
  await carryTokenLimits(updated);
  return ok(documents(updated));
};

const path = '/organizations/{organization}/token-ttl-policies';

export const tokenTtlRoutes: Route[] = [
  route('GET', path, 'organization:manage-tokens', organization, async ({ subject }) => ok(documents(subject.record))),
  route('PATCH', path, 'organization:manage-tokens', organization, update),
];
