import type { Declaration } from '#infra/stack/declaration.ts';

export const Notify: Declaration = {
  entry: 'functions/resources/notifications/handler.ts',
  description: 'Sends notifications of runs, health assessments and change requests',
  // At most ten seconds per destination, all in parallel.
  timeoutSeconds: 60,
  environment: ['table', 'key', 'outbound', 'publicUrl', 'email'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'),
    may.key('Decrypt'),
    ...may.sendEmails(),
  ],
};
