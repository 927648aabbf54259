import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Saml: HttpDeclaration = {
  entry: 'functions/public-api/saml.ts',
  description: 'Sign-in with SAML 2.0, and its settings',
  timeoutSeconds: 29,
  environment: ['table', 'key', 'publicUrl', 'requestLimit', 'organizationRules', 'signIn'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    // The platform's own private key.
    may.key('GenerateDataKey', 'Decrypt'),
  ],
  http: {
    routes: async () => (await import('#public-api/saml.ts')).routes,
    subtrees: ['ANY /users/{proxy+}'],
    authorization: 'Sign-in must be public: the function checks signatures of the identity provider.',
  },
};
