import type { Declaration } from '#infra/stack/declaration.ts';
import { rightsToCreateRuns } from '#infra/stack/shared-rights.ts';

export const RunApplied: Declaration = {
  entry: 'functions/lifecycle/phases/run-applied.ts',
  description: 'Queues the runs that an apply triggers in other workspaces',
  timeoutSeconds: 60,
  environment: ['table', 'bucket', 'machine'],
  rights: (may) => [...rightsToCreateRuns(may), may.keepLostEvents()],
};
