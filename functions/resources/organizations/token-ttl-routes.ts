import * as v from 'valibot';
import { type Answer, ok, type Resource } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readData } from '#api/validation.ts';
import { derivedId } from '#platform/store/id.ts';
import { type InOrganization, organization } from './finder.ts';
import type { Organization } from './records.ts';
import { setTokenTtls } from './token-ttl.ts';
import { policyTypes } from './token-ttl-record.ts';

/** Maximum lifetimes of tokens (HCP API: token TTL policies). They apply to tokens created afterwards. */

const documents = ({ name, tokenTtls = {} }: Organization): Resource[] =>
  policyTypes.flatMap((type) => {
    const policy = tokenTtls[type];
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

const hourMs = 3_600_000;
/** The default lifetime of tokens. */
const longestMs = 2 * 366 * 24 * hourMs;

const elsewhere: Record<string, string> = {
  user: 'user tokens are valid in several organizations. Disable them for this one with user-tokens-enabled',
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
      v.minValue(hourMs, 'must be one hour (3600000) at least'),
      v.maxValue(longestMs, `must be two years (${longestMs}) at most`),
    ),
  }),
);

const otherFields: OtherFields = { shown: '', related: '' };

const update = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const { attributes } = readData(request, { 'token-ttl-policies': policies }, {}, otherFields);
  const change = new Map(
    attributes['token-ttl-policies'].map((policy) => [policy['token-type'], policy['max-ttl-ms']]),
  );
  const updated = change.size ? await setTokenTtls(subject.record, change) : subject.record;
  if (!updated) throw notFound('The organization was deleted at the same time.');
  return ok(documents(updated));
};

const path = '/organizations/{organization}/token-ttl-policies';

export const tokenTtlRoutes: Route[] = [
  route('GET', path, 'organization:manage-tokens', organization, async ({ subject }) => ok(documents(subject.record))),
  route('PATCH', path, 'organization:manage-tokens', organization, update),
];
