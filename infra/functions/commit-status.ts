import type { Declaration } from '#infra/stack/declaration.ts';

export const CommitStatus: Declaration = {
  entry: 'functions/version-control/commit-status.ts',
  description: 'Posts statuses of commits to version control',
  timeoutSeconds: 60,
  environment: ['table', 'key', 'outbound', 'publicUrl', 'githubApp'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    may.key('Decrypt', 'GenerateDataKey'),
    ...may.githubApp('key'),
  ],
};
