import type { Declaration } from '#infra/stack/declaration.ts';
import { rightsToCreateRuns } from '#infra/stack/shared-rights.ts';

export const ConfigurationUploaded: Declaration = {
  entry: 'functions/lifecycle/creation/configuration-uploaded.ts',
  description: 'Marks a configuration version uploaded and starts its run',
  timeoutSeconds: 30,
  environment: ['table', 'bucket', 'machine'],
  rights: (may) => [...rightsToCreateRuns(may), may.keepLostEvents()],
};
