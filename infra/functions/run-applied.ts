import type { Declaration } from '../declaration.ts';
import { rightsToCreateRuns } from '../shared-rights.ts';

export const RunApplied: Declaration = {
  entry: 'functions/orchestration/run-applied.ts',
  description: 'Queues the runs that an apply sets off in other workspaces',
  timeoutSeconds: 60,
  environment: ['table', 'bucket', 'machine'],
  rights: (may) => [...rightsToCreateRuns(may), may.keepLostEvents()],
};
