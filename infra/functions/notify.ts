import type { Declaration } from '#infra/stack/declaration.ts';

export const Notify: Declaration = {
  entry: 'functions/resources/notifications/handler.ts',
  description: 'Sends notifications of runs, health assessments and change requests, and exports audit trails',
  // At most ten seconds per destination, all in parallel, or for each of four batches of an audit trail.
  timeoutSeconds: 60,
  environment: ['table', 'key', 'outbound', 'publicUrl', 'email'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    may.key('Decrypt'),
    ...may.sendEmails(),
  ],
};
