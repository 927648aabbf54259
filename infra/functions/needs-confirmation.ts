import type { StateDeclaration } from '../declaration.ts';
import { rightsToEnterStates } from '../shared-rights.ts';

export const NeedsConfirmation: StateDeclaration = {
  entry: 'functions/lifecycle/needs-confirmation.ts',
  description: 'State NeedsConfirmation: waits for a person',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
