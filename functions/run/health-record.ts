import type { Timestamp } from './status.ts';

/** Stored results of health assessments (HCP API: assessment results). */

/** A check block whose condition does not hold (Terraform language: check). */
export interface FailedCheck {
  /** `check.api` */
  address: string;
  /** Its error message. */
  message: string;
}
export const maxFailedChecks = 10;
export const maxCheckMessage = 200;

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
  /** Whether the assessment ran, regardless of its findings. */
  succeeded: boolean;
  /** Reason why it did not run. */
  message?: string;
  failedChecks?: FailedCheck[];
  /** Artifacts that exist. */
  hasPlan?: true;
}
