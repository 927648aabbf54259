import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const SignIn: HttpDeclaration = {
  entry: 'functions/public-api/sign-in.ts',
  description: 'Sign-in: terraform login and the OpenID Connect issuer',
  timeoutSeconds: 29,
  environment: ['table', 'outbound', 'requestLimit', 'organizationRules', 'signIn'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    ...may.signInSecret(),
  ],
  http: {
    routes: async () => (await import('#public-api/sign-in.ts')).routes,
    subtrees: ['ANY /oauth/{proxy+}'],
    authorization: 'Sign-in must be public: the function checks codes, verifiers and signatures of the issuer.',
  },
};
