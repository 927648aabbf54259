import type { FailedCheck, HealthFacts } from './health-record.ts';
import type { TestFacts } from './module-test-record.ts';
import type { UnsavedState } from './state-identity.ts';
import type { Timestamp } from './status.ts';

/** What a runner reports at the end of a plan or an apply, and what it uploads. */

/** Changes of resources, as in Terraform's summary. */
export interface Counts {
  additions: number;
  changes: number;
  destructions: number;
  imports: number;
}

export interface PhaseReport {
  outcome: 'finished' | 'errored' | 'canceled';
  /** One or two sentences for users when it is not `finished`. */
  message?: string;
  hasChanges?: boolean;
  /** Absent: not counted. The stored ones lack those that are 0, because writes are billed by size. */
  counts?: Partial<Counts>;
  generatedConfiguration?: boolean;
  /** For a plan: reason why its file could not be compared with its JSON. Policies reject such a plan. */
  uncompared?: string;
  /** Version of Terraform or OpenTofu that planned; the run itself may only have a constraint. */
  terraformVersion?: string;
  /** SHA-256 of each uploaded artifact in base64url ({@link shortened}), to verify later reads. */
  artifacts?: Partial<Record<Artifact, string>>;
  /**
   * For a traced run, by step, e.g. `{download, init, plan, show, upload}`: when it first began, in milliseconds after
   * `at`, which is in the runner's clock, and how many milliseconds it took.
   */
  steps?: { at: Timestamp; began: Record<string, number>; took: Record<string, number> };
  stateVersionId?: string;
  /** Message for users: why the apply's newest state was not saved to the workspace, and where it is. */
  stateProblem?: string;
  /** The state that was not saved (`stateProblem`). */
  unsavedState?: Omit<UnsavedState, 'runId'>;
  /**
   * Addresses of resources that Terraform was changing when its process was ended during an apply, as far as its output
   * names them. No state contains the result.
   */
  unrecorded?: string[];
  /** The platform wrote this report because the runner ended without one. */
  lost?: true;
  /** For a plan: number of managed instances after its apply. */
  resourcesAfter?: number;
  /** Set for an assessment. */
  health?: HealthFacts;
  /** Absent without any. */
  failedChecks?: FailedCheck[];
  /** Set for a test run in which Terraform completed. */
  tests?: TestFacts;
}

/**
 * Artifacts that a runner may upload for its phase. `plan` is a gzip tar of the plan file and the dependency lock file,
 * enough for another runner to apply it. `plan-json-redacted-gzip` is `plan-json-redacted` compressed, if that is large.
 */
export const artifacts = [
  'plan',
  'plan-json',
  'plan-json-redacted',
  'plan-json-redacted-gzip',
  'provider-schemas',
  'log',
  'generated-configuration',
] as const;

export type Artifact = (typeof artifacts)[number];

/** Base64url of a checksum in hex: 43 instead of 64 characters of the run's item. */
export const shortened = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');

export const hexOf = (shortened: string): string => Buffer.from(shortened, 'base64url').toString('hex');
