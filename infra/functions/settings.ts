import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Settings: HttpDeclaration = {
  entry: 'functions/public-api/settings.ts',
  description: 'The public API: variables, variable sets, tags, SSH keys, run triggers, notifications, IP allowlists',
  timeoutSeconds: 29,
  environment: ['table', 'key', 'outbound', 'publicUrl', 'requestLimit', 'email'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    // Sends test notifications, and verification e-mails.
    ...may.sendEmails(),
  ],
  http: {
    routes: async () => (await import('#public-api/settings.ts')).routes,
    authorization: `${bearer}; links of e-mails carry a secret of their own.`,
  },
};
