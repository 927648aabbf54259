import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { launching } from '#infra/stack/shared-rights.ts';

export const ApplyQueued: StateDeclaration = {
  entry: 'functions/lifecycle/states/apply-queued.ts',
  description: 'State ApplyQueued: hands the apply to a runner',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'launch', 'warmRunners'],
  rights: (may) => launching(may),
};
