import { createReadStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { RetryBound } from '#platform/net/transport/retry.ts';
import { type Binary, findBinary } from './binary/find.ts';
import { InterruptedError, PhaseError, TerraformError } from './errors.ts';
import { InitOutput } from './init-output.ts';
import { offerProviders } from './offer-providers.ts';
import { fromDirectory, type Phase, workingDirectory } from './phase.ts';
import { type PlanArchive, readPlanArchive } from './plan-archive.ts';
import type { Prepared } from './prepared.ts';
import { withSshKey } from './ssh-key.ts';
import { executable } from './terraform/executable.ts';
import { download, toFile } from './transfer.ts';
import { backendText, linkBackend, readRootModule, refuseOtherBackends } from './workspace/configuration.ts';
import { Folder } from './workspace/door.ts';
import { inWorkingDirectory, placeState } from './workspace/record.ts';
import { emptyFolder, give } from './workspace/tree.ts';
import { ArchiveError, unpack } from './workspace/unpack.ts';

/** How long downloads are retried. */
const downloadMs = 120_000;

/** Terraform's local records of backend, workspace and state, in case an archive contains another machine's. */
const localNotes = {
  data: ['terraform.tfstate', 'environment'],
  directory: ['terraform.tfstate', 'terraform.tfstate.d'],
};

/**
 * All steps before `terraform init`: fetches configuration, state and binary in parallel.
 * @throws {PhaseError} for errors that the run's owner can correct
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
      const binary = await findBinary(wanted, settings, control.asked, (path) => phase.askVersion(path));
      return { ...binary, path: executable(binary.path, files.machine, phase.user) };
    }),
  );
  binary.then(
    (binary) => phase.head(binary),
    () => phase.head(),
  );
  const requested = [
    timings.measure('download', () => fetchConfiguration(phase, patience)),
    job.stateUrl
      ? download('The state', job.stateUrl, patience, toFile(files.downloadedState, 'The state', job.checksums.state))
      : undefined,
    plan,
    binary,
  ];
  const results = await Promise.allSettled(requested);
  // Fails the phase only after all have settled, so that none still writes files.
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return { binary: await binary, made: await plan };
};

const arrange = async (phase: Phase, { binary, made }: Fetched): Promise<Prepared> => {
  const { job, files, log, user } = phase;
  const directory = await workingDirectory(files.configuration, job.workspace.workingDirectory);
  const module = await readRootModule(directory, job.terraform.engine);
  refuseOtherBackends(module);
  const backend = await files.serveBackend(backendText(fromDirectory({ directory }, files.states)));
  inWorkingDirectory(phase, { directory }, (folder) => {
    // With a state file, init would ask whether to migrate it.
    if (folder.look('terraform.tfstate')?.size) {
      log.note(
        'Note: the configuration has a file terraform.tfstate. It is ignored: this platform stores the state.\n',
      );
    }
    for (const name of localNotes.directory) folder.remove(name);
    if (folder.look('.terraform')) {
      folder.within('.terraform', (data) => {
        for (const name of localNotes.data) data.remove(name);
      });
    }
    if (made?.lockFile) folder.write('.terraform.lock.hcl', made.lockFile, 0o600);
    linkBackend(backend.path, folder, module);
  });
  placeState(phase);
  for (const path of [files.configuration, dirname(files.state), files.out]) give(path, user.owner);
  return { binary, directory, module };
};

/** Terraform can destroy with an empty configuration; its command line then uploads an empty archive. */
const fetchConfiguration = async ({ job, files }: Phase, patience: RetryBound): Promise<void> => {
  const { configurationBytes: archiveBytes, unpackedBytes, files: maxFiles } = job.limits;
  const what = 'The configuration';
  // Nothing is unpacked before the whole archive matches the checksum of the reviewed one.
  await download(what, job.configurationUrl, patience, toFile(files.archive, what, job.checksums.configuration));
  emptyFolder(files.configuration);
  const limits = { archiveBytes, unpackedBytes, files: maxFiles };
  const count = await unpack(createReadStream(files.archive), files.configuration, limits, patience.signal);
  await rm(files.archive);
  if (count === 0 && !job.operation.isDestroy) {
    throw new ArchiveError('The configuration archive has no files: upload one with at least one .tf file.');
  }
};

const fetchPlan = async ({ job, files }: Phase, patience: RetryBound) => {
  if (!job.planUrl) throw new PhaseError('There is no plan to apply: start a new run.');
  const { planArchive: archive } = files;
  await download('The plan', job.planUrl, patience, toFile(archive, 'The plan', job.checksums.plan));
  const planArchive = await readPlanArchive(await readFile(archive));
  Folder.at(files.out, (out) => out.write(basename(files.plan), planArchive.plan, 0o600));
  return planArchive;
};

const initArguments = ['init', '-input=false', '-no-color'];

/**
 * @param flags only for this command
 * @throws {TerraformError} for an error in a provider, a module or the configuration
 */
export const initialize = async (
  phase: Phase,
  prepared: Prepared,
  { flags = [] }: { flags?: string[] } = {},
): Promise<void> => {
  await offerProviders(phase, prepared);
  const initOutput = new InitOutput((bytes) => phase.log.write(bytes));
  const show = (bytes: Buffer): void => {
    if (phase.job.operation.debug) phase.log.write(bytes);
    else initOutput.push(bytes);
  };
  const { code } = await withSshKey(phase, () =>
    // Clients print lines that are not JSON unchanged, even when colours are off.
    phase.terraform(prepared, [...initArguments, ...flags], 'init', [0], show),
  ).finally(() => initOutput.end());
  if (code !== 0) throw new TerraformError(phase.output.failure ?? `terraform init ended with ${code}.`);
};
