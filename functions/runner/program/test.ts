import { InterruptedError, PhaseError, TerraformError } from './errors.ts';
import { fromDirectory, type Phase } from './phase.ts';
import { initialize, prepare } from './prepare.ts';
import type { Prepared } from './prepared.ts';
import { parallelism } from './terraform/environment.ts';
import { writeVariables } from './terraform/variables.ts';
import { TestOutput } from './test-output.ts';
import { isBefore } from './versions.ts';
import { give } from './workspace/tree.ts';

/** First release with `terraform test`; `-parallelism` came later. */
const firstTests = [1, 6] as const;
const firstParallelism = [1, 12] as const;

/** Exit codes: all tests passed or were skipped; some failed. */
const passed = 0;
const failed = 1;

/**
 * Runs the tests of a module, which create and destroy their own resources. Results go into the report; Terraform's
 * JSON lines are the log.
 * @throws {PhaseError} when Terraform did not finish the tests
 */
export const test = async (phase: Phase): Promise<void> => {
  const { tests } = phase.job.operation;
  if (!tests) throw new PhaseError('The job has no tests.');
  const prepared = await prepare(phase);
  const { version } = prepared.binary;
  if (isBefore(version, firstTests)) {
    throw new PhaseError(`Tests need version 1.6 or newer; this platform found ${version}.`);
  }
  const directory = [`-test-directory=${tests.directory}`];
  await initialize(phase, prepared, { flags: directory });
  const args = ['test', '-json', ...directory, ...(await flags(phase, prepared, tests))];
  const output = new TestOutput();
  const { code } = await phase.terraform(prepared, args, 'test', [passed, failed], (bytes) => {
    phase.log.write(bytes);
    output.push(bytes);
  });
  // Also after a failure: resources that could not be destroyed must be reported.
  if (output.facts) phase.facts.tests = output.facts;
  if (phase.control.cause) throw new InterruptedError('terraform test was interrupted');
  if (!output.facts) throw new TerraformError(phase.output.failure ?? `terraform test ended with ${code}.`);
};

const flags = async (
  phase: Phase,
  prepared: Prepared,
  { filters, verbose, parallelism: atOnce }: NonNullable<Phase['job']['operation']['tests']>,
): Promise<string[]> => {
  if (atOnce !== undefined && isBefore(prepared.binary.version, firstParallelism)) {
    throw new PhaseError(
      `parallelism: tests support it from version 1.12 on; this platform found ${prepared.binary.version}.`,
    );
  }
  const { files, job } = phase;
  const variables = await writeVariables(files.variables, job.variables);
  give(files.variables, phase.user.owner);
  return [
    ...filters.map((filter) => `-filter=${filter}`),
    ...(verbose ? ['-verbose'] : []),
    ...(atOnce === undefined ? [] : parallelism({ TFE_PARALLELISM: String(atOnce) })),
    ...variables.map((path) => `-var-file=${fromDirectory(prepared, path)}`),
  ];
};
