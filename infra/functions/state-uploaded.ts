import type { Declaration } from '#infra/stack/declaration.ts';

export const StateUploaded: Declaration = {
  entry: 'functions/resources/states/uploaded.ts',
  description: 'Makes an uploaded state the current one of its workspace',
  timeoutSeconds: 60,
  environment: ['table', 'bucket'],
  rights: (may) => [
    // Saved plans that are based on the state before are discarded, with an event in their timelines.
    may.table('GetItem', 'Query', 'PutItem', 'UpdateItem'),
    may.answerExecutions(),
    may.storageKey('GenerateDataKey', 'Decrypt'),
    may.readObjects('states', 'uploads'),
    may.writeObjects('states'),
    may.seeMissingObjects(),
    may.keepLostEvents(),
  ],
};
