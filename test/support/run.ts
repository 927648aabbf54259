import type { NewRun } from '#lifecycle/creation/new-run.ts';
import { keys } from '#platform/store/keys.ts';
import { defaultOptions, type Run } from '#run/run.ts';

/** Input of the store for a new run. */
export const newRunOptions = (change: Partial<NewRun> = {}): NewRun => ({
  configurationVersionId: 'cv-1',
  createdBy: 'user-1',
  source: 'tfe-api',
  structuredOutput: false,
  terraformVersion: 'latest',
  message: '',
  appliesFor: ['user-1'],
  ...change,
});

/** A run right after its creation. */
export const newRun = (change: Partial<Run> = {}): Run => ({
  ...defaultOptions,
  autoApply: false,
  configurationVersionId: 'cv-aaaaaaaaaaaaaaaa',
  createdBy: 'user-aaaaaaaaaaaaaaaa',
  source: 'tfe-api',
  structuredOutput: false,
  terraformVersion: 'latest',
  message: '',
  appliesFor: ['user-1'],
  id: 'run-aaaaaaaaaaaaaaaa',
  organization: 'acme',
  workspaceId: 'ws-aaaaaaaaaaaaaaaa',
  workspaceName: 'network',
  number: 1,
  status: 'pending',
  statusTimestamps: {},
  createdAt: '2026-01-01T00:00:00.000Z',
  workingDirectory: '',
  logSecret: 'secret',
  plan: { status: 'pending', statusTimestamps: {} },
  apply: { status: 'pending', statusTimestamps: {} },
  ...change,
});

/** The run's place in the queue; for a run without one, its number. */
export const queueEntry = ({ id, workspaceId, number, place = number }: Run) => ({
  ...keys.queued(workspaceId, place, id),
  runId: id,
  place,
  at: new Date().toISOString(),
});
