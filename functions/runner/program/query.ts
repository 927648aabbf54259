import { stat } from 'node:fs/promises';
import { messageOf } from '#platform/net/transport/errors.ts';
import { PhaseError, TerraformError } from './errors.ts';
import { fromDirectory, type Phase } from './phase.ts';
import { initialize, prepare } from './prepare.ts';
import { writeVariables } from './terraform/variables.ts';
import { isBefore } from './versions.ts';
import { maxGenerated } from './workspace/limits.ts';
import { give, takeFile } from './workspace/tree.ts';

/** First release with `terraform query`. */
const firstQuery = [1, 14] as const;

/**
 * Runs `terraform query`, which looks for resources that are not managed yet. Its JSON lines are the log; the
 * configuration that it generates becomes an artifact.
 * @throws {PhaseError} if Terraform, or a step that it needs, failed
 */
export const query = async (phase: Phase): Promise<void> => {
  const { files, job } = phase;
  await phase.identify();
  const prepared = await prepare(phase);
  const { version } = prepared.binary;
  if (job.terraform.engine === 'tofu' || isBefore(version, firstQuery)) {
    throw new PhaseError(
      `Queries need Terraform 1.14 or newer; this platform found ${version}. Set the workspace's terraform-version.`,
    );
  }
  const variables = await writeVariables(files.variables, phase.variables(prepared));
  give(files.variables, phase.user.owner);
  await initialize(phase, prepared);
  const args = [
    'query',
    '-json',
    ...(job.operation.queries?.generatesConfiguration
      ? [`-generate-config-out=${fromDirectory(prepared, files.generated)}`]
      : []),
    ...variables.map((path) => `-var-file=${fromDirectory(prepared, path)}`),
  ];
  const { code } = await phase.terraform(prepared, args, 'query', [0]);
  await storeGenerated(phase);
  if (code !== 0) throw new TerraformError(phase.output.failure ?? `terraform query ended with ${code}.`);
};

const storeGenerated = async ({ files, user, artifacts, log, facts }: Phase): Promise<void> => {
  const generated = files.own('generated.tf');
  try {
    if (!takeFile(files.generated, generated, { of: user.owner, maxBytes: maxGenerated })) return;
    const { size } = await stat(generated);
    if (size === 0) return;
    await artifacts.put('generated-configuration', { file: generated, size });
    facts.generatedConfiguration = true;
  } catch (error) {
    log.note(messageOf(error));
  }
};
