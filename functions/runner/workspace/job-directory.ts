import { chmodSync, lchownSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Owner } from '../terraform/owner.ts';
import { isPassable } from '../terraform/users.ts';
import { OverridePipe } from './override-pipe.ts';
import { give, makeFolder } from './tree.ts';

/** Where users of their own can get to: temporary folders are private to whoever the runner is, on some machines. */
const passable = (): string => [tmpdir(), '/tmp', '/var/tmp'].find(isPassable) ?? tmpdir();

/**
 * Where one runner works: private to it, gone when it ends. State and plan lie beside the configuration, not in it, so
 * that no path of an archive can reach them. Terraform's user owns what it has to write; folders that hold those are the
 * runner's, so that no link can take their place. What the runner makes of it lies in `own`, out of reach.
 */
export class JobDirectory {
  readonly root: string;
  readonly configuration: string;
  readonly variables: string;
  readonly identity: string;
  /** Only while modules are fetched. */
  readonly ssh: string;
  readonly home: string;
  readonly temporary: string;
  readonly states: string;
  readonly state: string;
  readonly archive: string;
  /** Where Terraform puts what the runner takes from there. */
  readonly out: string;
  readonly plan: string;
  readonly generated: string;
  readonly planJson: string;
  readonly stateJson: string;
  readonly schemas: string;
  readonly planSchemas: string;
  /** Of the machine's files, what Terraform's user would not get to. */
  readonly machine: string;
  readonly pluginCache: string;
  /** Providers as `init` installed them: the runner's, for all users to read. */
  readonly providers: string;
  /** The initialized configuration as it was before any code of it ran, and what was made of it. Read by the reader. */
  readonly kept: Kept;
  readonly #own: string;
  readonly #writable: string[];
  /** What tells Terraform where its state is; undefined before a configuration is there. */
  backend: OverridePipe | undefined;
  #renewals = 0;

  /** @param workspace its name: Terraform keeps the state of a workspace in a directory of that name */
  constructor(workspace: string, { user, reader }: { user?: Owner; reader?: Owner } = {}) {
    this.root = mkdtempSync(join(user ? passable() : tmpdir(), 'stepform-'));
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
    this.planJson = this.own('plan.json');
    this.stateJson = this.own('state.json');
    this.schemas = this.own('schemas.json');
    this.planSchemas = this.own('plan-schemas.json');
    this.machine = at('machine');
    this.pluginCache = at('plugin-cache');
    this.providers = at('providers');
    this.kept = new Kept(at('kept'), workspace, reader);
    this.#writable = [this.configuration, this.home, this.temporary, state, this.out];
    makeFolder(this.#own, 0o700);
    if (user) chmodSync(this.root, 0o711);
    this.#open(user);
  }

  /** For what the runner keeps to itself. */
  own(name: string): string {
    return join(this.#own, name);
  }

  log(phase: string): string {
    return this.own(`${phase}.log`);
  }

  /**
   * Nothing of what another user could write stays where it was; what was in `configuration` is at the path that is returned.
   * To be called when that user has no process any more.
   */
  renew(user: Owner | undefined): string {
    this.#renewals += 1;
    const left = this.own(`left-${this.#renewals}`);
    renameSync(this.configuration, left);
    for (const path of [this.variables, this.identity, this.home, this.temporary, this.states, this.out])
      rmSync(path, { recursive: true, force: true });
    this.#open(user);
    return left;
  }

  #open(user: Owner | undefined): void {
    // Terraform lists it for its workspaces.
    makeFolder(this.states, user ? 0o755 : 0o700);
    for (const path of this.#writable) {
      makeFolder(path, 0o700);
      give(path, user);
    }
  }

  /** Once for the plan and the apply of one runner. */
  serveBackend(text: string): OverridePipe {
    this.backend ??= new OverridePipe(this.machine, text);
    return this.backend;
  }

  remove(): void {
    this.backend?.close();
    try {
      rmSync(this.root, { recursive: true, force: true, maxRetries: 2 });
    } catch (error) {
      console.error(`could not remove ${this.root}: ${(error as Error).message}`);
    }
  }
}

/** What is recorded of a phase, laid out as in the job's folder: relative paths are the same. */
class Kept {
  readonly root: string;
  readonly configuration: string;
  readonly home: string;
  readonly temporary: string;
  /** As it was before Terraform ran; later what the reader is shown. */
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
    // `providers schema` looks for the workspace's state, and needs none.
    const state = join(root, 'state', workspace);
    makeFolder(dirname(state), 0o755);
    for (const path of [this.home, this.temporary, state]) {
      makeFolder(path, 0o700);
      give(path, reader);
    }
  }
}
