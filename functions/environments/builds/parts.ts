import type { Run } from '#run/run.ts';
import type { Part } from '../logs/entries.ts';
import type { Build, Transition } from './records.ts';

/** Stages of a build, in the order and with the names that clients expect. */

const doing: Record<Transition, string> = {
  start: 'Starting workspace',
  stop: 'Stopping workspace',
  delete: 'Destroying workspace',
};

const endOf = (build: Build): Part[] => {
  if (!build.completedAt) return [];
  const { note, error, completedAt: at } = build;
  return [
    {
      stage: 'Cleaning Up',
      at,
      lines: [
        ...(note ? [{ level: note.level, text: note.text }] : []),
        ...(error ? [{ level: 'error' as const, text: error }] : []),
      ],
    },
  ];
};

export const buildParts = (build: Build, run: Run | undefined): Part[] => [
  { stage: 'Setting up', at: build.createdAt },
  ...(run
    ? [
        { stage: 'Planning infrastructure', run, phase: 'plan' as const },
        { stage: doing[build.transition], run, phase: 'apply' as const },
      ]
    : []),
  ...endOf(build),
];
