import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { rightsToEnterStates } from '#infra/stack/shared-rights.ts';

export const PostPlanAwaitingDecision: StateDeclaration = {
  entry: 'functions/lifecycle/states/post-plan-awaiting-decision.ts',
  description: 'State PostPlanAwaitingDecision: waits for a user to override failed policies',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
