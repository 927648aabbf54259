import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Scim: HttpDeclaration = {
  entry: 'functions/public-api/scim.ts',
  description: 'Provisioning of users and groups by directories (SCIM 2.0)',
  timeoutSeconds: 29,
  environment: ['table', 'requestLimit', 'organizationRules'],
  rights: (may) => [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
  http: {
    subtrees: ['ANY /scim/v2/{proxy+}'],
    authorization: "The function checks the token of an organization's SCIM configuration (stored hashed).",
  },
};
