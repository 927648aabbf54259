import type { StateDeclaration } from '../declaration.ts';
import { rightsToEnterStates } from '../shared-rights.ts';

export const Applying: StateDeclaration = {
  entry: 'functions/lifecycle/applying.ts',
  description: 'State Applying: waits for terraform apply',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
