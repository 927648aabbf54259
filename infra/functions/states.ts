import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const States: HttpDeclaration = {
  entry: 'functions/public-api/states.ts',
  description: 'The public API: locks, state versions and outputs, plans and applies',
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'requestLimit'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('runs', 'states', 'uploads'),
    may.writeObjects('runs', 'states', 'uploads'),
    may.seeMissingObjects(),
    // Unlocking a workspace resumes its next run.
    may.answerExecutions(),
  ],
  http: {
    routes: async () => (await import('#public-api/states.ts')).routes,
    authorization: `${bearer}.`,
  },
};
