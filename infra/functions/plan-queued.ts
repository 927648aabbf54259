import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { launching } from '#infra/stack/shared-rights.ts';

export const PlanQueued: StateDeclaration = {
  entry: 'functions/lifecycle/states/plan-queued.ts',
  description: 'State PlanQueued: takes the turn in the queue, and starts a runner for the plan',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'launch', 'warmRunners', 'notify'],
  // The queue is read and locked here where the workspace is free; people are told of a new run.
  rights: (may) => [...launching(may), may.table('Query', 'DeleteItem'), may.notify()],
};
