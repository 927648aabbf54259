import type { Declaration } from '#infra/stack/declaration.ts';

export const CompilePolicies: Declaration = {
  entry: 'functions/resources/policies/engine/compile.ts',
  description: 'Compiles policies with OPA when they are uploaded',
  // Callers wait for it, and have 29 s themselves.
  timeoutSeconds: 20,
  memoryMiB: 1024,
  environment: ['table', 'bucket'],
  rights: (may) => [
    // Versions of OPA that the operator added.
    may.table('GetItem'),
    may.readObjects('policies'),
    may.storageKey('Decrypt'),
  ],
};
