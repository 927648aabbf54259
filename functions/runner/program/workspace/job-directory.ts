import { chmodSync, lchownSync, mkdtempSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isPassable } from '../terraform/machine.ts';
import type { Owner } from '../terraform/owner.ts';
import { removeForeign } from './foreign-paths.ts';
import { OverridePipe } from './override-pipe.ts';
import { give, makeFolder } from './tree.ts';

/**
 * A folder that Terraform's users can enter: on some machines, the temporary folder is private to the runner's user.
 */
const passable = (): string => [tmpdir(), '/tmp', '/var/tmp'].find(isPassable) ?? tmpdir();

/**
 * The root of a runner's folder, with its pipes. It can be created before the job is known, because creating the
 * pipes takes longer than the rest.
 */
export class JobRoot {
  readonly path: string;
  readonly machine: string;
  readonly pipe: Promise<OverridePipe>;

  /** @param shared whether Terraform's users have to enter it */
  constructor(shared: boolean) {
    this.path = mkdtempSync(join(shared ? passable() : tmpdir(), 'stepform-'));
    if (shared) chmodSync(this.path, 0o711);
    this.machine = join(this.path, 'machine');
    this.pipe = OverridePipe.make(this.machine);
    this.pipe.catch(() => {});
  }

  remove(): void {
    try {
      removeForeign(this.path);
    } catch (error) {
      console.error(`could not remove ${this.path}: ${(error as Error).message}`);
    }
  }
}

/**
 * The folder of one runner, removed when it ends. State and plan are next to the configuration, not in it, so that no
 * path of an archive can reach them. Terraform's user owns the folders that it writes; their parents are the
 * runner's, so that no link can replace them. The runner's own files are in `own`, which Terraform cannot access.
 */
export class JobDirectory {
  readonly root: string;
  readonly configuration: string;
  readonly variables: string;
  readonly identity: string;
  /** Exists only while modules are fetched. */
  readonly ssh: string;
  readonly home: string;
  readonly temporary: string;
  readonly states: string;
  readonly state: string;
  readonly archive: string;
  /** The state as the runner downloaded it, which foreign code cannot replace. */
  readonly downloadedState: string;
  readonly planArchive: string;
  /** Terraform's output files, which the runner collects. */
  readonly out: string;
  readonly plan: string;
  readonly generated: string;
  readonly planJson: string;
  readonly stateJson: string;
  readonly schemas: string;
  readonly planSchemas: string;
  /** Copies of the machine's files that Terraform's user cannot read. */
  readonly machine: string;
  readonly pluginCache: string;
  /** Providers installed by `init`; owned by the runner, readable by all users. */
  readonly providers: string;
  /** The initialized configuration, recorded before any of its code ran, and the plan. The reader user reads it. */
  readonly kept: Kept;
  readonly #own: string;
  readonly #writable: string[];
  /** Serves the backend configuration; undefined until the configuration is unpacked. */
  backend: OverridePipe | undefined;
  readonly #root: JobRoot;
  /** Earlier `configuration` folders. */
  readonly #left: string[] = [];

  /** @param workspace name of the workspace, which is also the name of the state's directory */
  constructor(
    workspace: string,
    { user, reader }: { user?: Owner; reader?: Owner } = {},
    root = new JobRoot(user !== undefined),
  ) {
    this.#root = root;
    this.root = root.path;
    const at = (...names: string[]) => join(this.root, ...names);
    this.#own = at('own');
    this.configuration = at('configuration');
    this.variables = at('variables');
    this.identity = at('identity');
    this.ssh = at('ssh');
    this.home = at('home');
    this.temporary = at('tmp');
    this.states = at('state');
    const state = join(this.states, workspace);
    this.state = join(state, 'terraform.tfstate');
    this.out = at('out');
    this.plan = join(this.out, 'plan.tfplan');
    this.generated = join(this.out, 'generated.tf');
    this.archive = this.own('configuration.tar.gz');
    this.downloadedState = this.own('terraform.tfstate');
    this.planArchive = this.own('plan.tar.gz');
    this.planJson = this.own('plan.json');
    this.stateJson = this.own('state.json');
    this.schemas = this.own('schemas.json');
    this.planSchemas = this.own('plan-schemas.json');
    this.machine = root.machine;
    this.pluginCache = at('plugin-cache');
    this.providers = at('providers');
    this.kept = new Kept(at('kept'), workspace, reader);
    this.#writable = [this.configuration, this.home, this.temporary, state, this.out];
    makeFolder(this.#own, 0o700);
    this.#open(user);
  }

  /** Path of one of the runner's own files. */
  own(name: string): string {
    return join(this.#own, name);
  }

  log(phase: string): string {
    return this.own(`${phase}.log`);
  }

  /**
   * Replaces everything that another user could write. Call it after the user's last process has ended.
   * @returns the path of the previous `configuration`
   */
  renew(user: Owner | undefined): string {
    const moved = this.own(`left-${this.#left.length + 1}`);
    renameSync(this.configuration, moved);
    this.#left.push(moved);
    for (const path of [this.variables, this.identity, this.home, this.temporary, this.states, this.out])
      removeForeign(path);
    this.#open(user);
    return moved;
  }

  #open(user: Owner | undefined): void {
    // Terraform lists this directory to find its workspaces.
    makeFolder(this.states, user ? 0o755 : 0o700);
    for (const path of this.#writable) {
      makeFolder(path, 0o700);
      give(path, user);
    }
  }

  /** Starts serving the backend once, for both plan and apply of the runner. */
  async serveBackend(text: string): Promise<OverridePipe> {
    if (this.backend) return this.backend;
    this.backend = await this.#root.pipe;
    this.backend.serve(text);
    return this.backend;
  }

  /** Removes what only Terraform's commands read or write, except the state, to free space on a full disk. */
  removeInputs(): void {
    const { configuration, home, temporary, out, pluginCache, providers, kept } = this;
    for (const path of [...this.#left, configuration, home, temporary, out, pluginCache, providers, kept.root])
      removeForeign(path);
  }

  remove(): void {
    this.backend?.close();
    this.#root.remove();
  }
}

/** The record of a phase. Its layout is that of the job's folder, so that relative paths stay valid. */
class Kept {
  readonly root: string;
  readonly configuration: string;
  readonly home: string;
  readonly temporary: string;
  /** The state after an apply, for the reader. */
  readonly state: string;
  readonly plan: string;

  constructor(root: string, workspace: string, reader: Owner | undefined) {
    this.root = root;
    this.configuration = join(root, 'configuration');
    this.home = join(root, 'home');
    this.temporary = join(root, 'tmp');
    this.state = join(root, 'terraform.tfstate');
    this.plan = join(root, 'plan.tfplan');
    makeFolder(root, 0o750);
    if (reader) lchownSync(root, 0, reader.gid);
    // `providers schema` looks for the workspace's state, but needs none.
    const state = join(root, 'state', workspace);
    makeFolder(dirname(state), 0o755);
    // Terraform reads `.terraformrc` there, and its output is cached for other runs: only the runner may write it.
    makeFolder(this.home, 0o755);
    for (const path of [this.temporary, state]) {
      makeFolder(path, 0o700);
      give(path, reader);
    }
  }
}
