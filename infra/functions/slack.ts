import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Slack: HttpDeclaration = {
  entry: 'functions/public-api/slack.ts',
  description: 'Decisions by buttons in Slack, Slack apps of organizations, accounts that users connect',
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'outbound', 'publicUrl', 'requestLimit', 'signIn'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    // The route of an override answers with the results of policies.
    may.readObjects('runs'),
    may.seeMissingObjects(),
    // A decision resumes the run.
    may.answerExecutions(),
  ],
  http: {
    routes: async () => (await import('#public-api/slack.ts')).routes,
    subtrees: ['ANY /slack/{proxy+}'],
    authorization: `Slack signs clicks with the secret of the organization's app; the function checks the signature first. ${bearer}.`,
  },
};
