import type { Declaration } from '../declaration.ts';
import { creatingRuns } from '../shared-rights.ts';

export const ConfigurationUploaded: Declaration = {
  entry: 'functions/orchestration/configuration-uploaded.ts',
  description: 'Marks a configuration version uploaded and starts its run',
  timeoutSeconds: 30,
  environment: ['table', 'bucket', 'machine'],
  rights: (may) => [...creatingRuns(may), may.answerExecutions(), may.keepLostEvents()],
};
