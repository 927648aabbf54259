import type { StateDeclaration } from '../declaration.ts';
import { rightsToEnterStates } from '../shared-rights.ts';

export const PolicyOverride: StateDeclaration = {
  entry: 'functions/lifecycle/policy-override.ts',
  description: 'State PolicyOverride: waits for a person to override',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
