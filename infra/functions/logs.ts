import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Logs: HttpDeclaration = {
  entry: 'functions/resources/runs/logs-handler.ts',
  description: 'Logs of plans and applies, live and stored',
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'logWait'],
  rights: (may) => [
    may.table('GetItem', 'Query'),
    may.key('Decrypt'),
    may.readObjects('runs'),
    may.seeMissingObjects(),
  ],
  http: {
    subtrees: ['GET /logs/{proxy+}'],
    authorization:
      'The path carries a 256-bit capability: clients of the HCP Terraform API send no token to a log URL (api: log-read-url).',
    unlimited: true,
  },
};
