import { TerraformError } from './errors.ts';
import { keptStatePath } from './kept-state.ts';
import { fromDirectory, type Phase, type Prepared } from './phase.ts';
import { initialize, prepare } from './prepare.ts';
import { StateKeeper } from './state.ts';
import { writeVariables } from './terraform/variables.ts';

/**
 * Applies: in the directory the plan was made in, or in one built again from the stored plan.
 * The state is stored however Terraform ends; only then does an error get out.
 * @throws {PhaseError} when Terraform or what it needs has failed
 */
export const apply = async (phase: Phase, handedOver?: Prepared): Promise<void> => {
  const { job, files, client, control, settings } = phase;
  await phase.identify();
  if (handedOver) phase.head(handedOver.binary);
  const prepared = handedOver ?? (await prepare(phase));
  // A plan keeps the values of its variables, but for the ephemeral ones.
  const ephemeral = new Set(prepared.module.ephemeralVariables);
  const variables = ephemeral.size ? await writeVariables(files.variables, phase.variables(prepared), ephemeral) : [];
  const flags = [
    ...phase.flags(prepared),
    ...variables.map((path) => `-var-file=${fromDirectory(prepared, path)}`),
    files.plan,
  ];
  if (!handedOver) await initialize(phase, prepared);
  const { runId, keptStateKey: key } = job;
  const refuge = { address: phase.refuge, runId, key, file: keptStatePath(settings.cacheDirectory, runId) };
  const state = new StateKeeper(files.state, client, control, refuge);
  await state.watch();
  let code: number | null;
  try {
    ({ code } = await phase.terraform(prepared, ['apply', ...flags], 'apply', [0]));
  } finally {
    await keepState(phase, prepared, state);
  }
  if (code !== 0) throw new TerraformError(phase.output.failure ?? `terraform apply ended with ${code}.`);
  if (phase.stateProblem) throw new TerraformError('Terraform itself succeeded.');
};

/** However Terraform has ended. */
const keepState = async (phase: Phase, prepared: Prepared, state: StateKeeper): Promise<void> => {
  phase.artifacts.expect(['log']);
  const { stateVersionId, problem, unsaved } = await phase.timings.measure('state', () => state.finish());
  Object.assign(phase.facts, phase.output.applied, { stateVersionId, unsavedState: unsaved });
  phase.stateProblem = problem;
  if (problem) phase.log.error(problem);
  if (!stateVersionId) return;
  const { state: file, stateJson } = phase.files;
  phase.afterwards.add('state-json', () =>
    phase.terraformAfterwards(prepared, ['show', '-json', '-no-color', file], stateJson),
  );
};
