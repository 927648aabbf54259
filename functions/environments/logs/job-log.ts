import type { Run } from '../../run/run.ts';
import type { Version } from '../templates/versions.ts';
import type { Part } from './entries.ts';

/** The log of a job, as it is now. */
export interface JobLog {
  parts: Part[];
  /** The job is complete, for everybody who asks. */
  isComplete: boolean;
}

/** By the id of the job; undefined when there is no such job. */
export type ReadJobLog = (id: string) => Promise<JobLog | undefined>;

export const setUp = (at: string): Part => ({ stage: 'Setting up', at });

export const planning = (stage: string, run: Run | undefined): Part[] => (run ? [{ stage, run, phase: 'plan' }] : []);

export const ending = (version: Pick<Version, 'completedAt' | 'error'>): Part[] =>
  version.completedAt
    ? [
        {
          stage: 'Cleaning Up',
          at: version.completedAt,
          ...(version.error ? { lines: [{ level: 'error' as const, text: version.error }] } : {}),
        },
      ]
    : [];
