import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { rightsToEnterStates } from '#infra/stack/shared-rights.ts';

export const EnterState: StateDeclaration = {
  entry: 'functions/lifecycle/states/enter-state.ts',
  description: 'States that only wait, for a runner or a user: Planning, Applying, NeedsConfirmation, overrides',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
