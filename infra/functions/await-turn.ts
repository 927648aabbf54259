import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const AwaitTurn: StateDeclaration = {
  entry: 'functions/lifecycle/states/await-turn.ts',
  description:
    'States Pending, PlanAwaitingSlot, ApplyAwaitingSlot: wait in the queue, or until another runner may start',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify', 'maxRunners'],
  rights: (may) => [may.table('GetItem', 'Query', 'UpdateItem', 'DeleteItem'), may.notify()],
};
