import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Identity: HttpDeclaration = {
  entry: 'functions/runner/identity/handler.ts',
  description: 'What workload identity tokens are verified with (OpenID Connect discovery)',
  timeoutSeconds: 10,
  environment: ['identity', 'publicUrl'],
  rights: (may) => [may.publishIdentityKeys()],
  http: {
    subtrees: ['GET /.well-known/openid-configuration', 'GET /.well-known/jwks'],
    authorization:
      'Discovery and public keys are for everybody who is to verify a token: AWS, Google Cloud, Azure and Vault ask without credentials (OpenID Connect Discovery 1.0).',
  },
};
