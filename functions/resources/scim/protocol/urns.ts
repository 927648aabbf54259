/** Names of schemas and messages (RFC 7643 §8.7, RFC 7644 §8.2). */

const core = 'urn:ietf:params:scim:schemas:core:2.0:';
const message = 'urn:ietf:params:scim:api:messages:2.0:';

export const urns = {
  user: `${core}User`,
  group: `${core}Group`,
  schema: `${core}Schema`,
  resourceType: `${core}ResourceType`,
  serviceProviderConfig: `${core}ServiceProviderConfig`,
  list: `${message}ListResponse`,
  patch: `${message}PatchOp`,
  error: `${message}Error`,
} as const;
