import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { rightsToEnterStates } from '#infra/stack/shared-rights.ts';

export const NeedsConfirmation: StateDeclaration = {
  entry: 'functions/lifecycle/states/needs-confirmation.ts',
  description: 'State NeedsConfirmation: waits for the decision of a user',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
