import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const TaskStageDone: StateDeclaration = {
  entry: 'functions/lifecycle/states/task-stage-done.ts',
  description: 'States …TasksDone: whether a stage of run tasks has passed',
  timeoutSeconds: 30,
  state: 'works',
  environment: ['table'],
  rights: (may) => [may.table('GetItem', 'Query', 'UpdateItem')],
};
