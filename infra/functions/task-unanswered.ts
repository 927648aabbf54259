import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const TaskUnanswered: StateDeclaration = {
  entry: 'functions/lifecycle/states/task-unanswered.ts',
  description: 'State TaskUnanswered: records why a run task has no result',
  timeoutSeconds: 30,
  state: 'works',
  environment: ['table'],
  rights: (may) => [may.table('GetItem', 'UpdateItem')],
};
