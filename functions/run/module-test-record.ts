/** Record of a test run of a module (HCP API: test runs). */

/** The requested test run; fixed when it is created. */
export interface ModuleTest {
  moduleId: string;
  /** Test files to run; empty for all. */
  filters: string[];
  /** Directory of the test files, relative to the module's root. */
  directory: string;
  verbose: boolean;
  /** Maximum of concurrent operations; absent: Terraform's default. */
  parallelism?: number;
}

export const testVerdicts = ['pass', 'fail', 'error', 'skip'] as const;
export type TestVerdict = (typeof testVerdicts)[number];

/** Terraform's summary at the end of its tests. */
export interface TestFacts {
  status: TestVerdict;
  passed: number;
  failed: number;
  errored: number;
  skipped: number;
  /** Addresses of resources that the tests created and could not destroy; absent: none. At most {@link maxLeft}. */
  left?: string[];
}

export const maxLeft = 50;
