import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

/** Serves an API of its own (infra/stack/environment-api.ts), and the web page on the page's own origin. */
export const Environments: HttpDeclaration = {
  entry: 'functions/environments/handler.ts',
  description: "Environments, their builds and users (Coder's API): reads, settings, tokens",
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'requestLimit', 'environments'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('Decrypt'),
    may.readObjects('runs', 'states'),
    may.seeMissingObjects(),
  ],
  http: { subtrees: ['ANY /environments/api/v2/{proxy+}'], authorization: bearer },
};
