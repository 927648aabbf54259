import type { Declaration } from '#infra/stack/declaration.ts';
import { rightsToCreateRuns } from '#infra/stack/shared-rights.ts';

export const VersionControlEvent: Declaration = {
  entry: 'functions/lifecycle/creation/version-control-event.ts',
  description: 'Turns pushes and pull requests into runs, and deletes unused webhooks',
  timeoutSeconds: 300,
  environment: ['table', 'bucket', 'key', 'machine', 'outbound', 'publicUrl', 'commits', 'notify', 'githubApp'],
  rights: (may) => [...rightsToCreateRuns(may), may.fetchCommits(), may.notify(), ...may.githubApp('key')],
};
