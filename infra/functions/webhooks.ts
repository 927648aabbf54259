import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Webhooks: HttpDeclaration = {
  entry: 'functions/public-api/webhooks.ts',
  description: 'Webhooks of version control: checks signatures, keeps what was said, answers at once',
  // Forges give up after 5 to 10 seconds.
  timeoutSeconds: 10,
  environment: ['table', 'key', 'requestLimit', 'versionControl', 'githubApp'],
  rights: (may) => [
    may.table('GetItem', 'Query', 'PutItem', 'UpdateItem'),
    may.key('Decrypt'),
    may.handleVersionControlEvents(),
    ...may.githubApp('webhookSecret'),
  ],
  http: {
    routes: async () => (await import('#public-api/webhook-routes.ts')).allWebhookRoutes,
    authorization:
      'Forges sign webhooks with a secret of each repository, or of the GitHub App; the function checks it before anything else.',
    unlimited: true,
  },
};
