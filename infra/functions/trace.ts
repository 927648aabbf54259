import type { Declaration } from '#infra/stack/declaration.ts';

export const Trace: Declaration = {
  entry: 'functions/resources/traces/handler.ts',
  description: 'Sends the traces of runs to the receiver of the setting otlpEndpoint',
  // Three requests of at most ten seconds.
  timeoutSeconds: 60,
  environment: ['table', 'bucket', 'outbound', 'publicUrl', 'traces'],
  rights: (may) => [
    may.table('GetItem', 'Query'),
    // The times of resources are in the logs.
    may.readObjects('runs'),
    may.seeMissingObjects(),
    may.storageKey('Decrypt'),
    ...may.otlpHeaders(),
  ],
};
