import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Web: HttpDeclaration = {
  entry: 'functions/clients/web-server/handler.ts',
  description: 'The web page: its document and assets; the description of the API',
  timeoutSeconds: 10,
  environment: ['bucket'],
  rights: () => [],
  http: {
    // Every path that no other function serves: the page, and its answer to unknown addresses.
    subtrees: ['$default', 'GET /api/v2/openapi.json'],
    authorization:
      'The page, its scripts and the description of the API contain no data and are the same for all users; the page reads data from the API with the user’s own token.',
  },
};
