import type { HttpDeclaration } from '../declaration.ts';

export const Webhooks: HttpDeclaration = {
  entry: 'functions/public-api/webhooks.ts',
  description: 'Webhooks of version control: checks signatures, keeps what was said, answers at once',
  // Forges give up after 5 to 10 seconds.
  timeoutSeconds: 10,
  environment: ['table', 'key', 'requestLimit', 'versionControl'],
  rights: (may) => [
    may.table('GetItem', 'Query', 'PutItem', 'UpdateItem'),
    may.key('Decrypt'),
    may.handleVersionControlEvents(),
  ],
  http: {
    routes: async () => (await import('../../functions/version-control/webhook-routes.ts')).webhookRoutes,
    authorization:
      'Forges sign webhooks with a secret of each repository; the function checks it before anything else.',
    unlimited: true,
  },
};
