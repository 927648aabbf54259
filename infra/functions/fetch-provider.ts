import type { Declaration } from '../declaration.ts';

export const FetchProvider: Declaration = {
  entry: 'functions/shared-providers/handler.ts',
  description: 'Fetches providers from public registries, once for all runs',
  timeoutSeconds: 600,
  environment: ['table', 'bucket', 'sharedProviders', 'outbound'],
  rights: (may) => [
    may.table('UpdateItem'),
    may.storageKey('GenerateDataKey', 'Decrypt'),
    // Where no other function writes, and no URL for uploads leads.
    may.writeObjects('providers'),
  ],
};
