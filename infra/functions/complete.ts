import type { StateDeclaration } from '../declaration.ts';
import { rightsToFinishRuns } from '../shared-rights.ts';

export const Complete: StateDeclaration = {
  entry: 'functions/lifecycle/complete.ts',
  description: 'The one finisher: final status, lock released, next run started',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'bucket', 'cluster', 'notify'],
  rights: (may) => rightsToFinishRuns(may),
};
