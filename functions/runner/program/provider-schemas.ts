import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '#platform/net/transport/errors.ts';
import type { Phase } from './phase.ts';
import type { PlanJson } from './plan-json.ts';
import type { Prepared } from './prepared.ts';
import { covers, type SchemasJson } from './schemas.ts';
import { prune } from './workspace/prune.ts';

/**
 * Schemas of a plan's providers. Terraform's output is cached on machines that outlive a runner, under a key derived
 * from the bytes of the lock file (decisions/0127).
 */

const command = ['providers', 'schema', '-json'];

const maxBytes = 2 ** 30;

/** Path in the cache; undefined if the cache must not be used. */
const keptFile = (phase: Phase, prepared: Prepared): string | undefined => {
  const { settings, user } = phase;
  // If Terraform has no user of its own, its processes could write to the cache.
  if (!settings.providerCache || !user.owner) return undefined;
  const { engine, version, platform } = prepared.binary;
  const name = createHash('sha256').update(`${engine} ${version} ${platform}\n`);
  if (prepared.lockFile) name.update(prepared.lockFile);
  return join(settings.cacheDirectory, 'schemas', `${name.digest('hex')}.json`);
};

const read = async (file: string): Promise<SchemasJson> => JSON.parse(await readFile(file, 'utf8')) as SchemasJson;

export class ProviderSchemas {
  readonly #phase: Phase;
  readonly #prepared: Prepared;
  readonly #kept: string | undefined;
  /** Terraform's pending or finished command, if it was started. */
  #query: Promise<unknown> | undefined;

  constructor(phase: Phase, prepared: Prepared) {
    this.#phase = phase;
    this.#prepared = prepared;
    this.#kept = keptFile(phase, prepared);
  }

  /** Starts Terraform early if the schemas are probably not cached, before the plan is known. */
  async begin(): Promise<void> {
    if (!this.#kept || !existsSync(this.#kept)) await this.#ask();
  }

  /** Schemas of all types in the plan, and possibly others. @throws {PhaseError} */
  async of(plan: PlanJson): Promise<SchemasJson> {
    const kept = await this.#find(plan);
    if (kept) return kept;
    await this.#ask();
    return read(this.#phase.files.schemas);
  }

  /** Like {@link of}, after the end of the phase, at low priority. */
  async afterwards(plan: PlanJson): Promise<SchemasJson> {
    const phase = this.#phase;
    const kept = await this.#find(plan);
    if (kept) return kept;
    this.#query ??= phase.terraformAfterwards(this.#prepared, command, phase.files.schemas);
    await this.#query;
    await this.#keep();
    return read(phase.files.schemas);
  }

  #ask(): Promise<unknown> {
    const { files } = this.#phase;
    this.#query ??= this.#phase.terraformTo(this.#prepared, command, files.schemas, 'schemas');
    return this.#query;
  }

  /** Lock files do not list built-in providers, so the cached schemas may lack them. */
  async #find(plan: PlanJson): Promise<SchemasJson | undefined> {
    if (this.#query || !this.#kept) return undefined;
    try {
      const schemas = await read(this.#kept);
      if (!covers(schemas, plan)) return undefined;
      const now = new Date();
      await utimes(this.#kept, now, now);
      return schemas;
    } catch {
      // Missing or damaged.
      return undefined;
    }
  }

  async #keep(): Promise<void> {
    const { lockFile, binary } = this.#prepared;
    const text = lockFile?.toString('utf8') ?? '';
    if (!this.#kept) return;
    const { isPinned } = await import('./workspace/provider-cache.ts');
    // Pinned providers: a run with the same lock file gets the same schemas.
    if (!(await isPinned(text, this.#phase.files.providers, binary.platform))) return;
    const folder = dirname(this.#kept);
    const incoming = join(folder, `.incoming-${randomUUID()}`);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await copyFile(this.#phase.files.schemas, incoming);
      await rename(incoming, this.#kept);
      prune(folder, maxBytes);
    } catch (error) {
      await rm(incoming, { force: true }).catch(() => {});
      console.error(`the providers' schemas were not kept: ${messageOf(error)}`);
    }
  }
}
