import type { Declaration } from '#infra/stack/declaration.ts';

export const Drain: Declaration = {
  entry: 'functions/lifecycle/drain/handler.ts',
  description: 'Refuses new runs until it resumes, and lists those in progress; invoked by an operator',
  timeoutSeconds: 60,
  environment: ['table'],
  rights: (may) => [may.table('GetItem', 'PutItem', 'DeleteItem'), may.index('due')],
};
