import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Governance: HttpDeclaration = {
  entry: 'functions/public-api/governance.ts',
  description: 'The public API: run tasks, cost estimates, results of policies',
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'outbound', 'requestLimit'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('outcomes', 'runs'),
    may.writeObjects('outcomes'),
    may.seeMissingObjects(),
    // Run tasks send heartbeats; an override of policies resumes the run.
    may.answerExecutions('Heartbeat'),
  ],
  http: {
    routes: async () => (await import('#public-api/governance.ts')).routes,
    authorization: `${bearer}, nor do run tasks.`,
  },
};
