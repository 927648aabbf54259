import { existsSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { Mask, secretsOf } from '#platform/formats/mask.ts';
import type { Job, JobVariable, PhaseReport } from '#run/protocols/runner.ts';
import { Artifacts } from './artifacts.ts';
import type { Binary } from './binary/find.ts';
import { platform } from './binary/platform.ts';
import { Client } from './client.ts';
import { Control } from './control.ts';
import { DeferredUploads } from './deferred-uploads.ts';
import { InterruptedError, PhaseError } from './errors.ts';
import type { Identity } from './identity/identity.ts';
import { PhaseLog } from './log.ts';
import { OutputReader } from './output.ts';
import type { Prepared } from './prepared.ts';
import type { Settings } from './settings.ts';
import { StateBackupUrl } from './state-backup-url.ts';
import { keepCredentials } from './terraform/credentials.ts';
import { parallelism, readerEnvironment, terraformEnvironment } from './terraform/environment.ts';
import { executable } from './terraform/executable.ts';
import { outputOf, type ProcessResult, run } from './terraform/process.ts';
import { reachable, reachableCache } from './terraform/reachable.ts';
import type { User, Users } from './terraform/users.ts';
import { Timings } from './timings.ts';
import type { JobDirectory } from './workspace/job-directory.ts';
import { recordedDirectory } from './workspace/record.ts';
import { give } from './workspace/tree.ts';

/** Common parts of a plan and an apply: job, log, signals, uploads. */
export class Phase {
  readonly job: Job;
  readonly settings: Settings;
  readonly files: JobDirectory;
  /** The user that Terraform's processes run as. */
  readonly user: User;
  readonly #reader: User;
  readonly control: Control;
  readonly client: Client;
  readonly artifacts: Artifacts;
  readonly refuge: StateBackupUrl;
  readonly log: PhaseLog;
  readonly output = new OutputReader((text) => this.masked(text));
  readonly timings = new Timings();
  readonly afterwards = new DeferredUploads();
  /** Variables for Terraform, besides the usual ones; a workspace's variables override them. */
  readonly environment: Record<string, string> = {};
  /** Facts that the report contains regardless of the outcome. */
  readonly facts: Partial<PhaseReport> = {};
  /** Exit code of Terraform's last command with output in the log: null when a signal ended it, undefined before its end. */
  exitCode: number | null | undefined;
  /** Reason why an apply's newest state is not stored, for users. */
  stateProblem: string | undefined;
  readonly #mask: Mask;
  readonly #logMask: Mask;
  #identity: Identity | undefined;
  #headed = false;
  readonly #availableBytes = process.availableMemory();

  constructor(job: Job, settings: Settings, files: JobDirectory, users: Users, control = new Control()) {
    this.job = job;
    this.files = files;
    this.user = users[job.phase];
    this.#reader = users.reader;
    this.settings = { ...settings, inherited: { ...settings.inherited, ...this.#machine(settings.inherited) } };
    this.control = control;
    this.client = new Client(settings.url, job.token, control.over, (reason) => {
      console.error(`the control plane has ended this ${job.phase}: ${reason}`);
      control.end();
    });
    this.artifacts = new Artifacts(this.client, control, job);
    this.refuge = new StateBackupUrl(job.erroredStateUrl);
    keepCredentials(files.home, job, settings);
    give(files.home, this.user.owner);
    // Terraform never gets the job's first token. If it were printed by mistake, the log must mask it.
    const tokens = job.identity?.credentials.map(({ token }) => token) ?? [];
    const keys = secretsOf(job.sshKey ? [{ value: job.sshKey, sensitive: true }] : []);
    const secrets = [...secretsOf(job.variables), ...keys, job.token, job.stateToken, ...tokens];
    this.#mask = new Mask(secrets);
    this.#logMask = new Mask(secrets);
    this.log = new PhaseLog(files.log(job.phase), {
      limitBytes: job.limits.logBytes,
      mask: this.#logMask,
      send: (offset, bytes) => this.client.log(offset, bytes),
      heed: (beat) => control.heed(beat),
    });
  }

  /** Replaces files in the machine's own variables by copies that Terraform's user can read. */
  #machine({ SSL_CERT_FILE: certificates, TF_PLUGIN_CACHE_DIR: cache }: Settings['inherited']): Settings['inherited'] {
    const { files, user } = this;
    const shared = cache && existsSync(cache) && !existsSync(files.pluginCache) ? cache : undefined;
    return {
      ...(certificates && existsSync(certificates)
        ? { SSL_CERT_FILE: reachable(certificates, files.machine, user) }
        : {}),
      ...(shared ? { TF_PLUGIN_CACHE_DIR: reachableCache(shared, files.pluginCache, user) } : {}),
    };
  }

  /** Masks sensitive values in a text of the runner. */
  masked(text: string): string {
    return this.#mask.text(text);
  }

  /** Masks sensitive values in all strings of a JSON value. */
  maskedJson<T>(value: T): T {
    return this.#mask.json(value);
  }

  /** Creates the credentials that the workspace's variables request. @throws {PhaseError} if one cannot be created */
  async identify(): Promise<void> {
    const { identity } = this.job;
    if (!identity) return;
    if (identity.problem) throw new PhaseError(identity.problem);
    const { Identity } = await import('./identity/identity.ts');
    try {
      this.#identity = await Identity.make(this.files.identity, { ...this.job, identity }, this.control.asked);
    } catch (error) {
      if (this.control.cause) throw new InterruptedError('interrupted before Terraform was started');
      throw error;
    }
    give(this.files.identity, this.user.owner);
    const secrets = secretsOf(this.#identity.secrets.map((value) => ({ value, sensitive: true })));
    for (const mask of [this.#mask, this.#logMask]) mask.add(secrets);
  }

  /** Revokes the credentials after Terraform has ended. */
  async forgetIdentity(): Promise<void> {
    await this.#identity?.end();
  }

  /** Variables of the workspace, of the run and of the credentials, in rising precedence. */
  variables(prepared: Prepared): JobVariable[] {
    const { module } = prepared;
    const pathOf = (file: string) => fromDirectory(prepared, file);
    return [...this.job.variables, ...(this.#identity?.variables(module.variables, pathOf) ?? [])];
  }

  /** The first three lines of every log; Terraform's command line drops them in the log of an apply. */
  head(binary?: Binary): void {
    if (this.#headed) return;
    this.#headed = true;
    const { engine, version } = this.job.terraform;
    const product = engine === 'tofu' ? 'OpenTofu' : 'Terraform';
    const knownVersion = binary?.version ?? (/^\d/.test(version) ? version : undefined);
    const onPlatform = binary?.platform ?? platform;
    this.log.note(
      `${product}${knownVersion ? ` v${knownVersion}` : ''}\non ${onPlatform}\nInitializing plugins and modules...\n`,
    );
  }

  /**
   * Runs Terraform with its output in the log, or with `show`, which filters the output.
   * @throws {InterruptedError} if a stop was requested and Terraform did not succeed
   */
  async terraform(
    prepared: Prepared,
    args: string[],
    step: string,
    successes: number[],
    show = (bytes: Buffer): void => this.log.write(bytes),
  ): Promise<ProcessResult> {
    this.exitCode = undefined;
    const ended = await this.timings.measure(step, () =>
      run(
        {
          ...this.#command(prepared, args),
          heedsFrom: args[0] === 'apply' ? applies : undefined,
          output: (bytes) => {
            show(bytes);
            this.output.push(bytes);
          },
        },
        this.control,
      ),
    );
    this.exitCode = ended.code;
    this.#judge(ended, step, successes);
    return ended;
  }

  /**
   * Runs Terraform in the recorded directory (record.ts), with standard output in a file and nothing in the log. No
   * code of the configuration runs at the same time, and the directory contains none of its files, except the plan.
   * @throws {PhaseError} if it fails
   */
  async terraformTo(prepared: Prepared, args: string[], file: string, step: string): Promise<void> {
    const ended = await this.timings.measure(step, () => run(this.#reading(prepared, args, file), this.control));
    this.#judge(ended, step, [0]);
    if (ended.code !== 0) {
      this.log.error(`terraform ${args[0]} failed\n\n${ended.errors}`);
      throw new PhaseError(`The plan could not be read (terraform ${args[0]} ended with ${ended.code}).`);
    }
  }

  /**
   * Like {@link terraformTo}, after the end of the phase.
   * @returns the file
   * @throws {Error} with Terraform's errors if it fails
   */
  async terraformAfterwards(prepared: Prepared, args: string[], file: string): Promise<string> {
    // A cancel after the end of the phase is ignored, because a canceled run has a state too. A stop of the host
    // still counts.
    const control = this.control.cause === 'stopped' ? this.control : new Control();
    const { code, errors } = await run({ ...this.#reading(prepared, args, file), background: true }, control);
    if (code !== 0) throw new Error(`terraform ${args[0]} ended with ${code}: ${this.masked(errors)}`);
    return file;
  }

  /** Version output of an installed Terraform. @throws {Error} */
  askVersion(path: string): Promise<string> {
    const { machine, kept } = this.files;
    const program = executable(path, machine, this.#reader);
    const environment = { PATH: this.settings.inherited.PATH ?? '', HOME: kept.home, CHECKPOINT_DISABLE: '1' };
    const args = ['version', '-json'];
    return outputOf({ path: program, args, directory: kept.temporary, environment, user: this.#reader }, versionMs);
  }

  #reading(prepared: Prepared, args: string[], file: string) {
    const { home, temporary } = this.files.kept;
    const place = { home, temporary, availableBytes: this.#availableBytes };
    const environment = readerEnvironment(this.job, this.settings, place);
    const directory = recordedDirectory(this, prepared);
    return { path: prepared.binary.path, args, directory, environment, user: this.#reader, output: { file } };
  }

  /** Flags of plan and apply. */
  flags(prepared: Prepared): string[] {
    const environment = this.#command(prepared, []).environment;
    // Only this runner uses the state's directory, and the platform locks the workspace.
    const common = ['-input=false', '-lock=false', ...parallelism(environment)];
    // Terraform 0.x has no JSON output, or a different one.
    return this.job.structuredOutput && !prepared.binary.version.startsWith('0.') ? [...common, '-json'] : common;
  }

  #command({ binary, directory }: Prepared, args: string[]) {
    const { home, temporary } = this.files;
    const place = { home, temporary, availableBytes: this.#availableBytes };
    const environment = {
      ...this.environment,
      ...terraformEnvironment(this.job, this.settings, place),
      ...this.#identity?.environment,
    };
    return { path: binary.path, args, directory, environment, user: this.user };
  }

  #judge({ code }: ProcessResult, step: string, successes: number[]): void {
    if (code !== null && successes.includes(code)) return;
    if (this.control.cause) throw new InterruptedError(`terraform ${step} was interrupted`);
    if (code === null)
      throw new PhaseError(`terraform ${step} was killed, perhaps because the runner ran out of memory.`);
  }
}

const versionMs = 10_000;

/** The message that starts a resource's change, in JSON or text. */
const applies =
  /"type":"(apply|refresh|ephemeral_op)_start"|: (Creating|Modifying|Destroying|Reading|Refreshing state)/;

/** Path relative to the working directory, as passed to Terraform and stored in plans. */
export const fromDirectory = ({ directory }: Pick<Prepared, 'directory'>, path: string): string =>
  relative(directory, path);

/** The directory that Terraform runs in. @throws {PhaseError} if the configuration does not contain it */
export const workingDirectory = async (root: string, configured: string): Promise<string> => {
  const missing = () =>
    new PhaseError(
      `The configuration has no directory "${configured}": correct the workspace's working directory, or upload a configuration that has it.`,
    );
  const path = join(root, configured);
  const [realRoot, real] = await Promise.all([realpath(root), realpath(path).catch(() => undefined)]);
  if (!real || !(await stat(real)).isDirectory()) throw missing();
  const inside = relative(realRoot, real);
  if (inside.startsWith('..') || isAbsolute(inside)) throw missing();
  return real;
};
