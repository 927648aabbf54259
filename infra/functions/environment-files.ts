import type { Declaration } from '#infra/stack/declaration.ts';

/** Routes of the environments' API (infra/stack/environment-api.ts) that are for it. */
export const environmentFileRoutes = ['ANY /api/v2/files', 'ANY /api/v2/files/{proxy+}'];

/** Apart from templates: nothing else reads zip archives, and hostile ones reach no function that starts runs. */
export const EnvironmentFiles: Declaration = {
  entry: 'functions/environments/templates/files-handler.ts',
  description: "Files of templates (Coder's API): uploads and downloads",
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'requestLimit', 'environments'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('configurations'),
    may.writeObjects('configurations'),
    may.seeMissingObjects(),
  ],
};
