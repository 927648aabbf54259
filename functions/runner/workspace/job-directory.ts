import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Where one runner works: private to it, gone when it ends. State and plan lie beside the configuration, not in it, so
 * that no path of an archive can reach them.
 */
export class JobDirectory {
  readonly root: string = mkdtempSync(join(tmpdir(), 'stepform-'));
  readonly configuration = join(this.root, 'configuration');
  readonly variables = join(this.root, 'variables');
  readonly identity = join(this.root, 'identity');
  readonly home = join(this.root, 'home');
  readonly temporary = join(this.root, 'tmp');
  readonly states = join(this.root, 'state');
  readonly state: string;
  readonly archive = join(this.root, 'configuration.tar.gz');
  readonly plan = join(this.root, 'plan.tfplan');
  readonly planJson = join(this.root, 'plan.json');
  readonly stateJson = join(this.root, 'state.json');
  readonly schemas = join(this.root, 'schemas.json');
  readonly planSchemas = join(this.root, 'plan-schemas.json');
  readonly generated = join(this.root, 'generated.tf');

  /** @param workspace its name: Terraform keeps the state of a workspace in a directory of that name */
  constructor(workspace: string) {
    this.state = join(this.states, workspace, 'terraform.tfstate');
    for (const name of ['configuration', 'home', 'tmp', 'state', `state/${workspace}`]) {
      mkdirSync(join(this.root, name), { mode: 0o700 });
    }
  }

  log(phase: string): string {
    return join(this.root, `${phase}.log`);
  }

  remove(): void {
    try {
      rmSync(this.root, { recursive: true, force: true, maxRetries: 2 });
    } catch (error) {
      console.error(`could not remove ${this.root}: ${(error as Error).message}`);
    }
  }
}
