import type { FailedCheck, HealthFacts } from './health-record.ts';
import type { TestFacts } from './module-test-record.ts';
import type { UnsavedState } from './state-identity.ts';
import type { Timestamp } from './status.ts';

/** What a runner reports at the end of a plan or an apply, and what it uploads. */

export interface PhaseReport {
  outcome: 'finished' | 'errored' | 'canceled';
  /** One or two sentences for users when it is not `finished`. */
  message?: string;
  hasChanges?: boolean;
  resourceAdditions?: number;
  resourceChanges?: number;
  resourceDestructions?: number;
  resourceImports?: number;
  generatedConfiguration?: boolean;
  /** For a plan: reason why its file could not be compared with its JSON. Policies reject such a plan. */
  uncompared?: string;
  /** Version of Terraform or OpenTofu that planned; the run itself may only have a constraint. */
  terraformVersion?: string;
  /** Uploaded artifacts. */
  artifacts?: Artifact[];
  /** Hex SHA-256 of each artifact, to verify later reads. */
  checksums?: Partial<Record<Artifact, string>>;
  /** Milliseconds by step, e.g. `{download, init, plan, show, upload}`. */
  timings?: Record<string, number>;
  /** When each of these steps first began, in milliseconds after `at`, which is in the runner's clock. */
  /** For a traced run: when each of these steps first began, in milliseconds after `at`, which is in the runner's clock. */
  steps?: { at: Timestamp; began: Record<string, number> };
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
 * enough for another runner to apply it.
 */
export const artifacts = [
  'plan',
  'plan-json',
  'plan-json-redacted',
  'provider-schemas',
  'log',
  'generated-configuration',
] as const;

export type Artifact = (typeof artifacts)[number];
