import type { StateDeclaration } from '../declaration.ts';
import { launching } from '../shared-rights.ts';

export const PlanQueued: StateDeclaration = {
  entry: 'functions/lifecycle/plan-queued.ts',
  description: 'State PlanQueued: starts a runner for the plan',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'launch', 'warmRunners'],
  rights: (may) => launching(may),
};
