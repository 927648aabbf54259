import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '#infra/local/host/errors.ts';
import { readSteering, writePrivately } from '../ssm/secrets.ts';
import { type Machine, prepareDefinition } from './definition.ts';

export interface StateMachine {
  arn: string;
  name: string;
  definition: object;
  /** Name of the stored definition. */
  revision: string;
  /** Milliseconds since 1970. */
  created: number;
}

/**
 * State machines, and every definition that executions were started with: they keep theirs when the machine changes, as
 * on AWS.
 */
export class Machines {
  readonly #dir: string;
  readonly #machines = new Map<string, StateMachine>();
  readonly #prepared = new Map<string, Machine>();

  constructor(dataDir: string) {
    this.#dir = join(dataDir, 'definitions');
    mkdirSync(this.#dir, { recursive: true });
  }

  /** @throws Error for a definition that this service cannot run */
  put(arn: string, definition: object, now: number): void {
    const text = JSON.stringify(definition);
    const revision = createHash('sha256').update(text).digest('hex').slice(0, 16);
    this.#prepared.set(revision, prepareDefinition(definition));
    const file = join(this.#dir, `${revision}.json`);
    if (contentOf(file) !== text) writePrivately(file, text);
    const created = this.#machines.get(arn)?.created ?? now;
    this.#machines.set(arn, { arn, name: arn.split(':').at(-1)!, definition, revision, created });
  }

  get(arn: string): StateMachine | undefined {
    return this.#machines.get(arn);
  }

  all(): StateMachine[] {
    return [...this.#machines.values()];
  }

  /** A definition ready to run. */
  revision(revision: string): Machine {
    let machine = this.#prepared.get(revision);
    if (!machine) {
      const file = join(this.#dir, `${revision}.json`);
      const definition = readSteering<object>(file, 'Executions that began with it cannot continue: their runs end.');
      if (!definition) throw new StartError(`${file} is missing`);
      machine = prepareDefinition(definition);
      this.#prepared.set(revision, machine);
    }
    return machine;
  }
}

const contentOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};
