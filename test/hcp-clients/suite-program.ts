import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { goBuild, inScratch, sourceOf } from '#test/support/go-build.ts';
import { type Result, resultsOf } from './results.ts';
import type { Edit, Suite } from './suites.ts';

/** A suite's tests as a program, in the user's cache beside the files that it reads. */

const run = promisify(execFile);

/** @throws {Error} if the source does not have that text: another version needs other edits */
const edit = async (folder: string, edits: Edit[]): Promise<void> => {
  for (const { file, from, to } of edits) {
    const path = join(folder, file);
    const text = await readFile(path, 'utf8');
    const edited = text.replace(from, to);
    if (edited === text) throw new Error(`${file} does not contain ${from}`);
    await writeFile(path, edited);
  }
};

export class SuiteProgram {
  readonly #suite: Suite;
  readonly #folder: string;
  readonly #program: string;

  constructor(suite: Suite) {
    this.#suite = suite;
    // Other edits need another program.
    const edits = JSON.stringify(suite.edits.map(({ file, from, to }) => [file, String(from), to]));
    const digest = createHash('sha256').update(edits).digest('hex').slice(0, 8);
    const name = `${suite.name}-${suite.version}-${digest}`;
    this.#folder = join(process.env.STEPFORM_CACHE || machineCache, 'suites', name);
    this.#program = join(this.#folder, 'tests');
  }

  get isAtHand(): boolean {
    return existsSync(this.#program);
  }

  async build(): Promise<void> {
    const { module, version, edits, tags, ...suite } = this.#suite;
    await inScratch(async (scratch) => {
      const source = await sourceOf(`${module}@v${version}`, scratch);
      const folder = join(source, suite.package);
      await edit(folder, edits);
      await rm(this.#folder, { recursive: true, force: true });
      await cp(join(folder, 'test-fixtures'), join(this.#folder, 'test-fixtures'), { recursive: true });
      // Built last: if the program exists, so does everything else.
      await goBuild({ folder, program: '.', target: this.#program, tags, isTest: true });
    });
  }

  /** Names of all its tests. */
  async tests(): Promise<string[]> {
    const { stdout } = await run(this.#program, ['-test.list', '.'], { cwd: this.#folder });
    return stdout.split('\n').filter((line) => line.startsWith('Test'));
  }

  /** Runs these tests. One that panics ends the program: the tests without a result are run again, in another one. */
  async run(
    names: string[],
    env: NodeJS.ProcessEnv,
    { processes, parallel }: Pick<Suite, 'processes' | 'parallel'> = this.#suite,
  ): Promise<Map<string, Result>> {
    const shares = Array.from({ length: processes }, (_, n) => names.filter((_, index) => index % processes === n));
    const results = await Promise.all(shares.map((share) => this.#runShare(share, env, parallel)));
    return new Map(results.flatMap((share) => [...share]));
  }

  async #runShare(names: string[], env: NodeJS.ProcessEnv, parallel: number): Promise<Map<string, Result>> {
    const results = new Map<string, Result>();
    for (let left = names; left.length > 0; ) {
      const added = resultsOf(await this.#runOnce(left, env, parallel));
      if (added.size === 0) break;
      for (const [name, result] of added) results.set(name, result);
      left = left.filter((name) => !results.has(name));
    }
    return results;
  }

  async #runOnce(names: string[], env: NodeJS.ProcessEnv, parallel: number): Promise<string[]> {
    const options = ['-test.v=test2json', `-test.parallel=${parallel}`, '-test.timeout=3h'];
    const args = ['tool', 'test2json', '-t', this.#program, ...options, `-test.run=^(${names.join('|')})$`];
    const child = spawn('go', args, { cwd: this.#folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) lines.push(line);
    return lines;
  }
}
