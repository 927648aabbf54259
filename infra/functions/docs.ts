import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Docs: HttpDeclaration = {
  entry: 'functions/clients/web-server/docs-handler.ts',
  description: 'The documentation of this version',
  timeoutSeconds: 10,
  environment: [],
  rights: () => [],
  http: {
    subtrees: ['ANY /docs/{proxy+}'],
    authorization: 'The documentation contains no data and is the same for all users.',
  },
};
