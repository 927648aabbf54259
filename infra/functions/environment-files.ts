import type { Declaration } from '#infra/stack/declaration.ts';

/** This function's routes of the environments' API (infra/stack/environment-api.ts). */
export const environmentFileRoutes = ['ANY /api/v2/files', 'ANY /api/v2/files/{proxy+}'];

/**
 * Separate from templates: only this function reads zip archives, so that malicious ones reach no function that starts
 * runs.
 */
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
