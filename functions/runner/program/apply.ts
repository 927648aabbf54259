import { readFile } from 'node:fs/promises';
import type { Counts } from '#run/phase-report.ts';
import { PhaseError, TerraformError } from './errors.ts';
import { keptStatePath } from './kept-states.ts';
import { fromDirectory, type Phase } from './phase.ts';
import { initialize, prepare } from './prepare.ts';
import type { Prepared } from './prepared.ts';
import { StateKeeper } from './state.ts';
import { writeVariables } from './terraform/variables.ts';
import { sha256Of } from './transfer.ts';
import { maxState } from './workspace/limits.ts';
import { type Planned, record, restore } from './workspace/record.ts';
import { give, takeFile } from './workspace/tree.ts';

/**
 * Applies the plan, in the directory that the plan's runner recorded or in one rebuilt from the stored plan. Stores
 * Terraform's state before it throws any error.
 * @throws {PhaseError} if Terraform, or a step that it needs, failed
 */
export const apply = async (phase: Phase, planned?: Planned): Promise<void> => {
  const { job, files, client, control, settings } = phase;
  await phase.identify();
  if (planned) {
    phase.head(planned.prepared.binary);
    await checkPlan(files.kept.plan, planned.prepared);
    await phase.timings.measure('restore', async () => restore(phase, planned));
  }
  const prepared = planned?.prepared ?? (await prepare(phase));
  // Plans contain the values of variables, except ephemeral ones.
  const ephemeral = new Set(prepared.module.ephemeralVariables);
  const variables = ephemeral.size ? await writeVariables(files.variables, phase.variables(prepared), ephemeral) : [];
  give(files.variables, phase.user.owner);
  const flags = [
    ...phase.flags(prepared),
    ...variables.map((path) => `-var-file=${fromDirectory(prepared, path)}`),
    files.plan,
  ];
  if (!planned) {
    await initialize(phase, prepared);
    record(phase, prepared);
  }
  const { runId, keptStateKey: key } = job;
  const refuge = {
    ...{ address: phase.refuge, runId, key, file: keptStatePath(settings.keptStates, runId) },
    freeDisk: () => files.removeInputs(),
  };
  const state = new StateKeeper(files.state, client, control, refuge, phase.user.owner);
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

/** Checks that the plan file is the one that was stored and that policies evaluated. */
const checkPlan = async (file: string, { planSha256 }: Prepared): Promise<void> => {
  if (planSha256 !== undefined && (await sha256Of(await readFile(file))) === planSha256) return;
  throw new PhaseError('The plan file was changed after the plan. Start a new run.');
};

/** Terraform's own exit codes; a crash has another one. */
const ends = [0, 1];

/** Stores the state, also if Terraform failed. */
const keepState = async (phase: Phase, prepared: Prepared, state: StateKeeper): Promise<void> => {
  phase.artifacts.expect(['log']);
  const { exitCode, output, facts } = phase;
  const wasEnded = exitCode !== undefined && (exitCode === null || !ends.includes(exitCode) || output.lostChange);
  const { stateVersionId, problem, unsaved, torn } = await phase.timings.measure('state', () =>
    state.finish({ wasEnded, dumped: exitCode === 0 ? undefined : output.dumpedState }),
  );
  const { applied } = output;
  const isMissing = !stateVersionId && !unsaved && changesState(applied);
  Object.assign(facts, {
    counts: applied,
    stateVersionId,
    unsavedState: unsaved,
    ...(wasEnded || torn || isMissing
      ? { unrecorded: output.progress.changes.open.map((one) => phase.masked(one)) }
      : {}),
  });
  phase.stateProblem = problem ?? (isMissing ? missing : undefined);
  if (phase.stateProblem) phase.log.error(phase.stateProblem);
  if (!stateVersionId) return;
  const { state: file, stateJson, kept } = phase.files;
  phase.afterwards.add('state-json', async () => {
    if (!takeFile(file, kept.state, { of: phase.user.owner, maxBytes: maxState })) throw new Error(`${file} not found`);
    return phase.terraformAfterwards(prepared, ['show', '-json', '-no-color', kept.state], stateJson);
  });
};

const missing =
  'Terraform reported that it created or destroyed resources, but it wrote no state here. Its state was written elsewhere, or ' +
  'could not be written.';

/** An update in place can leave the state unchanged; adding or removing a resource cannot. */
const changesState = ({ additions, destructions, imports }: Counts): boolean => additions + destructions + imports > 0;
