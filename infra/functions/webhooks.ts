import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Webhooks: HttpDeclaration = {
  entry: 'functions/public-api/webhooks.ts',
  description: 'Webhooks of version control: checks signatures, stores the event, answers at once',
  // Forges time out after 5 to 10 seconds.
  timeoutSeconds: 10,
  environment: ['table', 'key', 'requestLimit', 'versionControl', 'githubApp'],
  rights: (may) => [
    may.table('GetItem', 'Query', 'PutItem', 'UpdateItem'),
    may.key('Decrypt'),
    may.handleVersionControlEvents(),
    ...may.githubApp('webhookSecret'),
  ],
  http: {
    routes: async () => (await import('#public-api/webhooks.ts')).routes,
    authorization:
      'Forges sign webhooks with a secret per repository, or with the secret of the GitHub App; the function checks the signature first.',
    unlimited: true,
  },
};
