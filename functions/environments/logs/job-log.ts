import type { Run } from '#run/run.ts';
import type { Version } from '../templates/versions.ts';
import type { Part } from './entries.ts';

export interface JobLog {
  parts: Part[];
  /** The job's end is recorded. */
  isComplete: boolean;
}

/** Reads a log by the job's id; undefined when the job does not exist. */
export type ReadJobLog = (id: string) => Promise<JobLog | undefined>;

export const setUp = (at: string): Part => ({ stage: 'Setting up', at });

export const planning = (stage: string, run: Run | undefined): Part[] => (run ? [{ stage, run, phase: 'plan' }] : []);

export const ending = (version: Pick<Version, 'completedAt' | 'error'>): Part[] =>
  version.completedAt
    ? [
        {
          stage: 'Cleaning Up',
          at: version.completedAt,
          lines: version.error ? [{ level: 'error', text: version.error }] : [],
        },
      ]
    : [];
