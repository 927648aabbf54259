import type { StateDeclaration } from '../declaration.ts';

export const TaskUnanswered: StateDeclaration = {
  entry: 'functions/lifecycle/task-unanswered.ts',
  description: 'State TaskUnanswered: records why there is no result',
  timeoutSeconds: 30,
  state: 'works',
  environment: ['table'],
  rights: (may) => [may.table('GetItem', 'UpdateItem'), may.tableKey()],
};
