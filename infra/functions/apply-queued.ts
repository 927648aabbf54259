import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { launching } from '#infra/stack/shared-rights.ts';

export const ApplyQueued: StateDeclaration = {
  entry: 'functions/lifecycle/states/apply-queued.ts',
  description: 'State ApplyQueued: reserves a ready runner for the apply, or starts one',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'launch', 'warmRunners', 'maxRunners'],
  rights: (may) => launching(may),
};
