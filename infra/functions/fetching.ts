import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const Fetching: StateDeclaration = {
  entry: 'functions/lifecycle/states/fetching.ts',
  description: 'State Fetching: waits for the configuration',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'bucket', 'notify'],
  rights: (may) => [
    may.table('GetItem', 'UpdateItem'),
    may.storageKey('Decrypt', 'GenerateDataKey'),
    // An accepted upload is copied.
    may.readObjects('configurations', 'uploads'),
    may.writeObjects('configurations'),
    may.seeMissingObjects(),
    // Sends the notifications of a new run that waits only for its configuration.
    may.notify(),
  ],
};
