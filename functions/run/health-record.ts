import type { Timestamp } from './status.ts';

/** What is stored of a health assessment (HCP API: assessment results). */

/** Facts of an assessment, as the runner reads them from the plan; absent if unknown. */
export interface HealthFacts {
  resourcesDrifted?: number;
  resourcesUndrifted?: number;
  checksPassed?: number;
  checksFailed?: number;
  checksErrored?: number;
  checksUnknown?: number;
}

/** The result of an assessment. The workspace's item has the newest. */
export interface HealthResult extends HealthFacts {
  runId: string;
  /** When it ended. */
  at: Timestamp;
  /** The assessment ran, whatever it found. */
  succeeded: boolean;
  /** Why it did not run. */
  message?: string;
  /** Artifacts that can be read. */
  hasPlan?: true;
}
