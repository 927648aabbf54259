import type { Declaration } from '#infra/stack/declaration.ts';
import { rightsToBeginRuns, rightsToFinishRuns } from '#infra/stack/shared-rights.ts';

export const Sweep: Declaration = {
  entry: 'functions/lifecycle/repair/sweep.ts',
  description: 'Repairs what events and interrupted handlers left behind, every minute',
  timeoutSeconds: 60,
  environment: [
    'table',
    'bucket',
    'machine',
    'launch',
    'warmRunners',
    'notify',
    'environmentSweep',
    'dataRetention',
    'versionControl',
    'commits',
  ],
  rights: (may) => [
    ...rightsToFinishRuns(may),
    ...rightsToBeginRuns(may),
    may.index('due'),
    may.sweepEnvironments(),
    may.deleteOldData(),
    may.handleVersionControlEvents(),
    // Assessments and automatic destruction of a workspace whose commit was archived.
    may.fetchCommits(),
    ...may.launch(),
    may.describeExecutions(),
    may.answerExecutions(),
  ],
};
