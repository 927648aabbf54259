import type { Declaration } from '#infra/stack/declaration.ts';

export const FetchProvider: Declaration = {
  entry: 'functions/runner/shared-providers/handler.ts',
  description: 'Fetches providers from public registries, once for all runs',
  timeoutSeconds: 600,
  environment: ['table', 'bucket', 'sharedProviders', 'outbound'],
  rights: (may) => [
    may.table('UpdateItem'),
    may.storageKey('GenerateDataKey', 'Decrypt'),
    // No other function writes there, and no upload URL points there.
    may.writeObjects('providers'),
  ],
};
