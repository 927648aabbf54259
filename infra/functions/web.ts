import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Web: HttpDeclaration = {
  entry: 'functions/clients/web-server/handler.ts',
  description: 'The web page: its document and assets',
  timeoutSeconds: 10,
  environment: ['bucket'],
  rights: () => [],
  http: {
    subtrees: ['GET /', 'GET /app', 'GET /app/{proxy+}'],
    authorization:
      'The page and its scripts contain no data and are the same for all users; the page reads data from the API with the user’s own token.',
  },
};
