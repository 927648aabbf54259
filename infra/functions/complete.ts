import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { rightsToFinishRuns } from '#infra/stack/shared-rights.ts';

export const Complete: StateDeclaration = {
  entry: 'functions/lifecycle/states/complete.ts',
  description: 'Finishes runs: sets the final status, releases the lock, starts the next run',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'bucket', 'cluster', 'notify', 'maxRunners'],
  rights: (may) => rightsToFinishRuns(may),
};
