import type { Declaration } from '../declaration.ts';
import { rightsToCreateRuns } from '../shared-rights.ts';

export const VersionControlEvent: Declaration = {
  entry: 'functions/orchestration/version-control-event.ts',
  description: 'Turns pushes and pull requests into runs, and deletes webhooks that nobody needs',
  timeoutSeconds: 300,
  environment: ['table', 'bucket', 'key', 'machine', 'outbound', 'publicUrl', 'commits', 'notify', 'githubApp'],
  rights: (may) => [
    ...rightsToCreateRuns(may),
    may.table('DeleteItem'),
    // Outdated plans of pull requests are canceled.
    may.answerExecutions(),
    may.fetchCommits(),
    may.notify(),
    ...may.githubApp('key'),
  ],
};
