import { createReadStream, realpathSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RetryBound } from '../transport/retry.ts';
import { type Binary, findBinary } from './binary/find.ts';
import { InterruptedError, PhaseError, TerraformError } from './errors.ts';
import { InitOutput } from './init-output.ts';
import { expectProviders, offerProviders } from './offer-providers.ts';
import { fromDirectory, type Phase, workingDirectory } from './phase.ts';
import { type PlanArchive, readPlanArchive } from './plan-archive.ts';
import type { Prepared } from './prepared.ts';
import { withSshKey } from './ssh-key.ts';
import { reachable } from './terraform/reachable.ts';
import { download, toFile } from './transfer.ts';
import { backendText, linkBackend, readRootModule, refuseOtherBackends } from './workspace/configuration.ts';
import { emptyFolder, give } from './workspace/tree.ts';
import { ArchiveError, unpack } from './workspace/unpack.ts';

/** How long downloads are retried. */
const downloadMs = 120_000;

/** Terraform's records of backend, workspace and state on another machine, in case an archive contains them. */
const localNotes = [
  '.terraform/terraform.tfstate',
  '.terraform/environment',
  'terraform.tfstate',
  'terraform.tfstate.d',
];

/**
 * Everything before `terraform init`: fetches configuration, state and binary in parallel.
 * @throws {PhaseError} for faults that the run's owner can correct
 */
export const prepare = async (phase: Phase): Promise<Prepared> => {
  try {
    const fetched = await fetchAll(phase);
    return await arrange(phase, fetched);
  } catch (error) {
    if (phase.control.cause) throw new InterruptedError('interrupted before Terraform was started');
    throw error;
  }
};

interface Fetched {
  binary: Binary;
  made?: PlanArchive;
}

const fetchAll = async (phase: Phase): Promise<Fetched> => {
  const { job, files, control, settings, timings } = phase;
  const patience: RetryBound = { ...control.patience(downloadMs), signal: control.asked };
  const plan = job.phase === 'apply' ? fetchPlan(phase, patience) : Promise.resolve(undefined);
  // Only the version that made a plan can apply it.
  const binary = plan.then((archive) =>
    timings.measure('binary', async () => {
      const wanted = { ...job.terraform, ...(archive ? { version: archive.version } : {}) };
      const found = await findBinary(wanted, settings, control.asked);
      return { ...found, path: reachable(found.path, files.machine, phase.user, true) };
    }),
  );
  binary.then(
    (binary) => {
      phase.head(binary);
      if (!job.operation.tests && !job.workspace.workingDirectory)
        phase.startAhead({ binary, directory: realpathSync(files.configuration) }, initArguments);
    },
    () => phase.head(),
  );
  expectProviders(phase);
  const requested = [
    timings.measure('download', () => fetchConfiguration(phase, patience)),
    job.stateUrl
      ? download('The state', job.stateUrl, patience, toFile(files.state, 'The state', job.checksums.state))
      : undefined,
    plan,
    binary,
  ];
  const results = await Promise.allSettled(requested);
  // Only once all have settled: nothing is being written any more when one of them fails the phase.
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return { binary: await binary, made: await plan };
};

const arrange = async (phase: Phase, { binary, made }: Fetched): Promise<Prepared> => {
  const { job, files, log, user } = phase;
  const directory = await workingDirectory(files.configuration, job.workspace.workingDirectory);
  const module = await readRootModule(directory, job.terraform.engine);
  refuseOtherBackends(module);
  // With a state file, init would ask whether to migrate it.
  const stray = await stat(join(directory, 'terraform.tfstate')).catch(() => undefined);
  if (stray?.size) {
    log.note('Note: the configuration has a file terraform.tfstate. It is ignored: this platform stores the state.\n');
  }
  await Promise.all([
    ...localNotes.map((name) => rm(join(directory, name), { force: true, recursive: true })),
    made?.lockFile ? writeFile(join(directory, '.terraform.lock.hcl'), made.lockFile) : undefined,
  ]);
  const backend = await files.serveBackend(backendText(fromDirectory({ directory }, files.states)));
  linkBackend(backend.path, directory, module);
  for (const path of [files.configuration, dirname(files.state), files.out]) give(path, user.owner);
  return { binary, directory, module };
};

/** Terraform can destroy with an empty configuration; its command line then uploads an empty archive. */
const fetchConfiguration = async ({ job, files }: Phase, patience: RetryBound): Promise<void> => {
  const { configurationBytes: archiveBytes, unpackedBytes, files: maxFiles } = job.limits;
  const what = 'The configuration';
  // Nothing is unpacked before the whole archive is verified to be the reviewed one.
  await download(what, job.configurationUrl, patience, toFile(files.archive, what, job.checksums.configuration));
  // The same folder: an `init` that was started ahead is in it.
  emptyFolder(files.configuration);
  const limits = { archiveBytes, unpackedBytes, files: maxFiles };
  const count = await unpack(createReadStream(files.archive), files.configuration, limits);
  await rm(files.archive);
  if (count === 0 && !job.operation.isDestroy) {
    throw new ArchiveError('The configuration archive has no files: upload one with at least one .tf file.');
  }
};

const fetchPlan = async ({ job, files }: Phase, patience: RetryBound) => {
  if (!job.planUrl) throw new PhaseError('There is no plan to apply: start a new run.');
  const archive = `${files.plan}.tar.gz`;
  await download('The plan', job.planUrl, patience, toFile(archive, 'The plan', job.checksums.plan));
  const planArchive = await readPlanArchive(await readFile(archive));
  await writeFile(files.plan, planArchive.plan, { mode: 0o600 });
  return planArchive;
};

const initArguments = ['init', '-input=false', '-no-color'];

/** What it says first once it has read its settings. */
const hasBegun = /^Initializing /m;

/**
 * @param flags of this command alone
 * @param onBegun called when it has read its settings, at which it may have been held back
 * @throws {TerraformError} for an error in a provider, a module or the configuration
 */
export const initialize = async (
  phase: Phase,
  prepared: Prepared,
  { flags = [], onBegun }: { flags?: string[]; onBegun?: () => void } = {},
): Promise<void> => {
  await offerProviders(phase, prepared);
  const initOutput = new InitOutput((bytes) => phase.log.write(bytes));
  let begun = onBegun;
  const show = (bytes: Buffer): void => {
    if (phase.job.operation.debug) phase.log.write(bytes);
    else initOutput.push(bytes);
    if (!begun || !hasBegun.test(bytes.toString('latin1'))) return;
    begun();
    begun = undefined;
  };
  const { code } = await withSshKey(phase, () =>
    // Clients print lines that are not JSON unchanged, even when colours are off.
    phase.terraform(prepared, [...initArguments, ...flags], 'init', [0], show),
  ).finally(() => initOutput.end());
  if (code !== 0) throw new TerraformError(phase.output.failure ?? `terraform init ended with ${code}.`);
};
