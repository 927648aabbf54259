import { param } from '#api/finders.ts';
import { discovery, type ScimCall } from './call.ts';
import { groupTable } from './groups/input.ts';
import { scimJson } from './protocol/answers.ts';
import type { Attribute, Kind, Table } from './protocol/attributes.ts';
import { missing } from './protocol/errors.ts';
import { listAnswer, maxCount } from './protocol/list.ts';
import type { ScimRoute } from './protocol/serve.ts';
import { urns } from './protocol/urns.ts';
import { baseOf } from './url.ts';
import { userTable } from './users/attributes.ts';

/** What this service provider supports (RFC 7643 §5 to §7, RFC 7644 §4). */

const types = { text: 'string', flag: 'boolean' } as const;

interface Described {
  name: string;
  description?: string;
  required?: boolean;
  caseExact?: boolean;
  uniqueness?: 'none' | 'server';
}

const described: Described[] = [
  { name: 'userName', description: 'Name of the user in the directory.', required: true, uniqueness: 'server' },
  { name: 'emails', description: 'The primary address links the user to an account.', required: true },
  { name: 'active', description: 'Whether the user is a member of the organization.' },
  { name: 'externalId', caseExact: true },
  { name: 'members', description: 'Users of the directory.' },
];

const simple = (name: string, kind: Kind, more: Partial<Described> = {}) => ({
  name,
  type: types[kind],
  multiValued: false,
  description: more.description ?? name,
  required: more.required ?? false,
  ...(kind === 'text' ? { caseExact: more.caseExact ?? false } : {}),
  mutability: 'readWrite',
  returned: 'default',
  ...(kind === 'text' ? { uniqueness: more.uniqueness ?? 'none' } : {}),
});

const attributeOf = (attribute: Attribute, unique: string): object[] => {
  const { name } = attribute;
  const more = described.find((one) => one.name === name) ?? { name };
  switch (attribute.kind) {
    case 'text':
    case 'flag':
      return [simple(name, attribute.kind, name === unique ? { ...more, required: true, uniqueness: 'server' } : more)];
    case 'complex':
    case 'list':
      return [
        {
          name,
          type: 'complex',
          multiValued: attribute.kind === 'list',
          description: more.description ?? name,
          required: more.required ?? false,
          mutability: 'readWrite',
          returned: 'default',
          subAttributes: Object.entries(attribute.subs).map(([sub, kind]) => simple(sub, kind)),
        },
      ];
    case 'read-only':
    case 'ignored':
      return [];
  }
};

interface Type {
  name: 'User' | 'Group';
  description: string;
  schema: string;
  endpoint: string;
  table: Table;
  /** Its unique attribute. */
  unique: string;
}

const resourceTypes: Type[] = [
  {
    name: 'User',
    description: 'User Account',
    schema: urns.user,
    endpoint: '/Users',
    table: userTable,
    unique: 'userName',
  },
  {
    name: 'Group',
    description: 'Group',
    schema: urns.group,
    endpoint: '/Groups',
    table: groupTable,
    unique: 'displayName',
  },
];

const baseIn = ({ request, configuration }: ScimCall): string => baseOf(request, configuration);

const resourceTypeOf = ({ name, description, schema, endpoint }: Type, base: string) => ({
  schemas: [urns.resourceType],
  id: name,
  name,
  description,
  endpoint,
  schema,
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
});

const schemaOf = ({ name, description, schema, table, unique }: Type, base: string) => ({
  schemas: [urns.schema],
  id: schema,
  name,
  description,
  attributes: table.flatMap((attribute) => attributeOf(attribute, unique)),
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema}` },
});

const unsupported = { supported: false };

const providerConfig = (base: string) => ({
  schemas: [urns.serviceProviderConfig],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: maxCount },
  changePassword: unsupported,
  sort: unsupported,
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'OAuth Bearer Token',
      description: "A token of the organization's SCIM configuration.",
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

const all = (describe: (type: Type, base: string) => object) => async (call: ScimCall) => {
  const documents = resourceTypes.map((type) => describe(type, baseIn(call)));
  return listAnswer(documents.length, { startIndex: 1, count: documents.length }, documents);
};

const one =
  (noun: string, key: 'name' | 'schema', describe: (type: Type, base: string) => object) => async (call: ScimCall) => {
    const id = param(call.request, 'id');
    const type = resourceTypes.find((candidate) => candidate[key] === id);
    if (!type) throw missing(noun, id);
    return scimJson(200, describe(type, baseIn(call)));
  };

export const scimDiscoveryRoutes: ScimRoute[] = [
  discovery('/ServiceProviderConfig', async (call) => scimJson(200, providerConfig(baseIn(call)))),
  discovery('/ResourceTypes', all(resourceTypeOf)),
  discovery('/ResourceTypes/{id}', one('Resource type', 'name', resourceTypeOf)),
  discovery('/Schemas', all(schemaOf)),
  discovery('/Schemas/{id}', one('Schema', 'schema', schemaOf)),
];
