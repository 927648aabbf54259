import type { StateDeclaration } from '../declaration.ts';
import { launching } from '../shared-rights.ts';

export const ApplyQueued: StateDeclaration = {
  entry: 'functions/lifecycle/apply-queued.ts',
  description: 'State ApplyQueued: hands the apply to a runner',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'launch', 'warmRunners'],
  rights: (may) => launching(may),
};
