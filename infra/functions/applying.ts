import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { rightsToEnterStates } from '#infra/stack/shared-rights.ts';

export const Applying: StateDeclaration = {
  entry: 'functions/lifecycle/states/applying.ts',
  description: 'State Applying: waits for terraform apply',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [...rightsToEnterStates(may), may.notify()],
};
