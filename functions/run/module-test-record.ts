/** What is stored of a test run of a module (HCP API: test runs). */

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
