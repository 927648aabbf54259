import type { StateDeclaration } from '../declaration.ts';
import { rightsToEnterStates } from '../shared-rights.ts';

export const Planning: StateDeclaration = {
  entry: 'functions/lifecycle/planning.ts',
  description: 'State Planning: waits for terraform plan',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
