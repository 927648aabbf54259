import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const SignIn: HttpDeclaration = {
  entry: 'functions/public-api/sign-in.ts',
  description: 'Signing in: terraform login, and the issuer that people sign in at',
  timeoutSeconds: 29,
  environment: ['table', 'outbound', 'requestLimit', 'organizationRules', 'signIn'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    ...may.signInSecret(),
  ],
  http: {
    routes: async () => (await import('#public-api/sign-in-routes.ts')).allSignInRoutes,
    subtrees: ['ANY /oauth/{proxy+}'],
    authorization:
      'Signing in is public by its nature: the function checks codes, verifiers and what the issuer signed.',
  },
};
