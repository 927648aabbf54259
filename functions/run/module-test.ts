import type { Run } from './run.ts';
import { isFinal } from './status.ts';

/** Test runs of modules (HCP API: test runs). Pure. */

/** What was asked for; fixed when the test run is created. */
export interface ModuleTest {
  moduleId: string;
  /** Test files to run; none: all. */
  filters: string[];
  /** Below the module's root. */
  directory: string;
  verbose: boolean;
  /** Operations at once; absent: what Terraform does by itself. */
  parallelism?: number;
}

export const testVerdicts = ['pass', 'fail', 'error', 'skip'] as const;
export type TestVerdict = (typeof testVerdicts)[number];

/** What Terraform said at the end of its tests. */
export interface TestFacts {
  status: TestVerdict;
  passed: number;
  failed: number;
  errored: number;
  skipped: number;
  /** Addresses of resources that it created and could not destroy; absent: none. At most {@link maxLeft}. */
  left?: string[];
}

export const maxLeft = 50;

/** HCP API: `status` of a test run. */
export type TestRunStatus = 'queued' | 'running' | 'finished' | 'errored' | 'canceled';

/** Clients wait while it is queued, and read the log, which waits itself, once it is not. */
export const testRunStatus = ({ status }: Pick<Run, 'status'>): TestRunStatus => {
  if (status === 'pending') return 'queued';
  if (!isFinal(status)) return 'running';
  if (status === 'planned_and_finished') return 'finished';
  return status === 'errored' ? 'errored' : 'canceled';
};

/** HCP API: `test-status`. Clients fail on an empty one. */
export const testVerdict = ({ status, plan }: Pick<Run, 'status' | 'plan'>): TestVerdict | 'pending' => {
  if (!isFinal(status)) return 'pending';
  return plan.report?.tests?.status ?? 'error';
};
