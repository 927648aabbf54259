import type { Declaration } from '#infra/stack/declaration.ts';
import { rightsToCreateRuns } from '#infra/stack/shared-rights.ts';

export const RunApplied: Declaration = {
  entry: 'functions/lifecycle/phases/run-applied.ts',
  description: 'Queues the runs that an apply triggers in other workspaces, and has environments started again',
  timeoutSeconds: 60,
  environment: ['table', 'bucket', 'machine', 'commits', 'environmentSweep'],
  rights: (may) => [...rightsToCreateRuns(may), may.fetchCommits(), may.sweepEnvironments(), may.keepLostEvents()],
};
