import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Identity: HttpDeclaration = {
  entry: 'functions/runner/identity/handler.ts',
  description: 'Discovery and public keys for verifying workload identity tokens (OpenID Connect discovery)',
  timeoutSeconds: 10,
  environment: ['identity', 'publicUrl'],
  rights: (may) => [may.publishIdentityKeys()],
  http: {
    subtrees: ['GET /.well-known/openid-configuration', 'GET /.well-known/jwks'],
    authorization:
      'Every verifier of a token needs discovery and public keys: AWS, Google Cloud, Azure and Vault request them without credentials (OpenID Connect Discovery 1.0).',
  },
};
