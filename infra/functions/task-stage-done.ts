import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { passingConfirmation } from '#infra/stack/shared-rights.ts';

export const TaskStageDone: StateDeclaration = {
  entry: 'functions/lifecycle/states/task-stage-done.ts',
  description: 'States …TasksDone: decide whether a stage of run tasks passed',
  timeoutSeconds: 30,
  state: 'works',
  environment: ['table'],
  rights: (may) => [passingConfirmation(may), may.table('Query')],
};
