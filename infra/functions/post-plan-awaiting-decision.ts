import type { StateDeclaration } from '../declaration.ts';
import { rightsToEnterStates } from '../shared-rights.ts';

export const PostPlanAwaitingDecision: StateDeclaration = {
  entry: 'functions/lifecycle/post-plan-awaiting-decision.ts',
  description: 'State PostPlanAwaitingDecision: waits for a person to override',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
