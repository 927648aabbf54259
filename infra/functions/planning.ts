import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { rightsToEnterStates } from '#infra/stack/shared-rights.ts';

export const Planning: StateDeclaration = {
  entry: 'functions/lifecycle/states/planning.ts',
  description: 'State Planning: waits for terraform plan',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
