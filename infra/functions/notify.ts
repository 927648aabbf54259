import type { Declaration } from '#infra/stack/declaration.ts';

export const Notify: Declaration = {
  entry: 'functions/resources/notifications/handler.ts',
  description: 'Tells people of runs, health and change requests: notification configurations',
  // Destinations are called side by side, each for 10 s at most.
  timeoutSeconds: 60,
  environment: ['table', 'key', 'outbound', 'publicUrl', 'email'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'),
    may.key('Decrypt'),
    ...may.sendEmails(),
  ],
};
