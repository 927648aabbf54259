import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import type { Synthesis } from '#infra/build/synth.ts';
import type { Application } from '#infra/local/assembly/site.ts';
import { type Platform, startPlatform, synthesizedApplication } from '#infra/local/commands/platform.ts';
import { randomFrom } from '#infra/local/host/faults.ts';
import { dataFormat } from '#infra/settings/data-format.ts';
import { freePort } from '#test/support/free-port.ts';
import { isRoot, newSharedFolder, sharedFolder } from '../e2e/support/shared-folder.ts';
import { functionsOfBoth, halfUpgraded } from './half-upgraded.ts';

/**
 * `npm run upgrade -- [--from COMMIT] [--seed N]`: runs pass an upgrade from the last release, or from the commit
 * before if no release had this version's data format: a deployment refuses an upgrade from another one. They begin on
 * the former version; then a random half of the functions is the former version and the rest is this one; then the
 * other way round; then all are this one. The emulators of AWS are this version's throughout.
 */

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { from: { type: 'string' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? Date.now() % 100_000);
const patientMs = 120_000;

const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

const hasThisFormat = (commit: string): boolean =>
  git('show', `${commit}:infra/settings/data-format.ts`).includes(`dataFormat = ${dataFormat};`);

/** The commit of the last release (infra/build/release.ts), or the one before; for uncommitted changes the last one. */
const formerCommit = (): string => {
  const isChanged = git('status', '--porcelain', '--', 'functions', 'infra') !== '';
  const former = isChanged ? 'HEAD' : 'HEAD^';
  const release = git('log', '-1', '--format=%H', '--grep=^Release [0-9]', former);
  const commit = values.from ?? [release, former].find((one) => one && hasThisFormat(one));
  if (commit === undefined) throw new Error(`no earlier commit has data format ${dataFormat}`);
  return git('rev-parse', '--verify', '--quiet', commit);
};

const print = `import { synthesize } from './infra/build/synth.ts';
const { template, bundles } = await synthesize();
console.log(JSON.stringify({ template, bundles }));`;

/** Builds another commit, with the packages of this one. */
const applicationOf = async (commit: string, checkout: string): Promise<Application> => {
  git('worktree', 'add', '--detach', '--quiet', checkout, commit);
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', print], {
    cwd: checkout,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { template, bundles } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Pick<
    Synthesis,
    'template' | 'bundles'
  >;
  const files: Record<string, { file: string } | undefined> = bundles.functions;
  return { template, runner: bundles.runnerProgram, bundleOf: (id) => files[id.replace(/Function$/, '')]?.file };
};

class Upgrade {
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'stepform-upgrade-'));
  readonly #shared = newSharedFolder('upgrade-');
  /** Terraform waits for this file. */
  readonly go = join(this.#shared, 'go');
  #platform: Platform | undefined;
  #client: Client | undefined;

  get client(): Client {
    if (!this.#client) throw new Error('no platform is running');
    return this.#client;
  }

  /** Continues with another version; runners and executions continue. */
  async become(name: string, application: Application): Promise<void> {
    await this.#platform?.close({ leaveRunners: true });
    this.#platform = await startPlatform({
      dataDir: this.#dataDir,
      // Another one each time: the client may still have connections to the version before.
      port: await freePort(),
      httpsPort: 0,
      application: Promise.resolve(application),
    });
    this.#client = new Client(this.#platform.local.url, this.#platform.local.token);
    console.log(`${seconds()} s  ${name}`);
  }

  async workspace(name: string, autoApply: boolean): Promise<Resource> {
    return this.client.createWorkspace(this.#platform?.local.organization ?? '', name, { 'auto-apply': autoApply });
  }

  async run(workspace: Resource, main = 'resource "terraform_data" "a" {}'): Promise<Resource> {
    const version = await this.client.upload(workspace.id, await packFiles({ 'main.tf': main }));
    return this.client.createRun(workspace.id, {}, version.id);
  }

  async until(run: Resource, status: string): Promise<void> {
    const ended = await this.client
      .waitForRun(run.id, (now) => now.attributes.status === status || isFinalRun(now), patientMs)
      .catch(async (error: Error) => {
        const events = await this.client.list(`/runs/${run.id}/run-events`);
        const lines = events.map(({ attributes }) => `${attributes['created-at']} ${attributes.action}`);
        throw new Error([error.message, ...lines, 'errors of functions:', ...this.errors()].join('\n'));
      });
    if (ended.attributes.status === status) return;
    throw new Error(
      `run ${run.id} is ${ended.attributes.status}, not ${status}: ${ended.attributes['end-reason'] ?? ''}`,
    );
  }

  async confirm(run: Resource): Promise<void> {
    await this.client.act(run.id, 'apply');
  }

  /** Lines in the logs of functions that report errors. */
  errors(): string[] {
    const folder = join(this.#dataDir, 'logs');
    const files = readdirSync(folder).filter((name) => !name.startsWith('runner-'));
    return files.flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter((line) => /"level":"error"| ERROR |AccessDenied/.test(line))
        .map((line) => `${name}: ${line.slice(0, 400)}`),
    );
  }

  async end(): Promise<void> {
    if (!existsSync(this.go)) writeFileSync(this.go, '');
    await this.#platform?.close();
    for (const folder of [this.#dataDir, this.#shared])
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

const began = performance.now();
const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);

const pass = async (former: Application, present: Application): Promise<void> => {
  const ids = functionsOfBoth(former, present);
  const draw = randomFrom(seed);
  const first = new Set(ids.filter(() => draw() < 0.5));
  const second = new Set(ids.filter((id) => !first.has(id)));
  console.log(`functions that are replaced later: ${[...first].join(' ')}`);
  const upgrade = new Upgrade();
  const { go } = upgrade;
  const waits = `resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "until [ -e ${go} ]; do sleep 0.2; done"
  }
}`;
  try {
    await upgrade.become('the former version', former);
    const confirmed = await upgrade.run(await upgrade.workspace('confirmed', false));
    const busy = await upgrade.workspace('busy', true);
    const applying = await upgrade.run(busy, waits);
    await Promise.all([upgrade.until(confirmed, 'planned'), upgrade.until(applying, 'applying')]);
    const queued = await upgrade.run(busy, 'resource "terraform_data" "b" {}');

    await upgrade.become('one half of the functions is new', halfUpgraded(former, present, first, 'former'));
    await upgrade.confirm(confirmed);
    writeFileSync(go, '');
    const begun = await upgrade.run(await upgrade.workspace('begun', false));
    await Promise.all([
      ...[confirmed, applying, queued].map((run) => upgrade.until(run, 'applied')),
      upgrade.until(begun, 'planned'),
    ]);

    await upgrade.become('the other half is new', halfUpgraded(former, present, second, 'present'));
    await upgrade.confirm(begun);
    const last = await upgrade.run(await upgrade.workspace('last', false));
    await Promise.all([upgrade.until(begun, 'applied'), upgrade.until(last, 'planned')]);

    await upgrade.become('all are new', present);
    await upgrade.confirm(last);
    await upgrade.until(last, 'applied');
    const errors = upgrade.errors();
    if (errors.length > 0) throw new Error(`functions logged errors:\n${errors.join('\n')}`);
    console.log(`${seconds()} s  5 runs passed the upgrade`);
  } finally {
    await upgrade.end();
  }
};

if (isRoot) process.env.STEPFORM_ROOM_FOLDERS = sharedFolder();
let commit = '';
try {
  commit = formerCommit();
} catch (error) {
  console.log(`SKIPPED: an upgrade (${(error as Error).message.split('\n')[0]})`);
}
if (commit) {
  console.log(`from ${git('log', '-1', '--format=%h %s', commit)}, seed ${seed}`);
  const checkout = mkdtempSync(join(tmpdir(), 'stepform-former-'));
  rmSync(checkout, { recursive: true });
  try {
    const [former, present] = await Promise.all([applicationOf(commit, checkout), synthesizedApplication()]);
    console.log(`${seconds()} s  built both versions`);
    await pass(former, present);
  } finally {
    git('worktree', 'remove', '--force', checkout);
  }
}
process.exit();
