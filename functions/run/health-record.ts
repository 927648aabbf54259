import type { Timestamp } from './status.ts';

/** What is stored of a health assessment (HCP API: assessment results). */

/** Facts of an assessment, as the runner reads them from the plan; absent for what it could not tell. */
export interface HealthFacts {
  resourcesDrifted?: number;
  resourcesUndrifted?: number;
  checksPassed?: number;
  checksFailed?: number;
  checksErrored?: number;
  checksUnknown?: number;
}

/** The result of an assessment that was carried through. The workspace's item has the newest. */
export interface HealthResult extends HealthFacts {
  runId: string;
  /** When it ended. */
  at: Timestamp;
  /** It ran; what it found is another matter. */
  succeeded: boolean;
  /** Why it did not. */
  message?: string;
  /** Which of the artifacts that can be read there are. */
  hasPlan?: true;
}
