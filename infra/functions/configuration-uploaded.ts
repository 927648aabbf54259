import type { Declaration } from '../declaration.ts';
import { rightsToCreateRuns } from '../shared-rights.ts';

export const ConfigurationUploaded: Declaration = {
  entry: 'functions/orchestration/configuration-uploaded.ts',
  description: 'Marks a configuration version uploaded and starts its run',
  timeoutSeconds: 30,
  environment: ['table', 'bucket', 'machine'],
  rights: (may) => [...rightsToCreateRuns(may), may.answerExecutions(), may.keepLostEvents()],
};
