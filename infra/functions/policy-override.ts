import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { rightsToEnterStates } from '#infra/stack/shared-rights.ts';

export const PolicyOverride: StateDeclaration = {
  entry: 'functions/lifecycle/states/policy-override.ts',
  description: 'State PolicyOverride: waits for a user to override failed policies',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
