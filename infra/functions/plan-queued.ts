import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { launching } from '#infra/stack/shared-rights.ts';

export const PlanQueued: StateDeclaration = {
  entry: 'functions/lifecycle/states/plan-queued.ts',
  description: 'State PlanQueued: starts a runner for the plan',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'launch', 'warmRunners', 'maxRunners', 'notify'],
  // Sends the notifications of a new run that waits for nothing.
  rights: (may) => [...launching(may), may.notify()],
};
