import { mkdirSync } from 'node:fs';
import type { BackedCredential, Signed } from '#run/protocols/credential.ts';
import type { Job, JobVariable } from '#run/protocols/runner.ts';
import { PhaseError } from '../errors.ts';
import { removeForeign } from '../workspace/foreign-paths.ts';
import { makeAws } from './aws.ts';
import { makeAzure } from './azure.ts';
import { makeGcp } from './gcp.ts';
import { CredentialFolder, type File, type IssuedCredential, type OpenVault } from './issued-credentials.ts';
import { makeKubernetes } from './kubernetes.ts';
import { makePlain } from './plain.ts';
import { makeVault } from './vault.ts';
import { makeBacked } from './vault-backed.ts';

type Entry = NonNullable<IssuedCredential['entry']>;
type Provider = (Signed | BackedCredential)['provider'];

interface One {
  provider: Provider;
  tag: string | undefined;
  made: IssuedCredential & Partial<OpenVault>;
}

const make = (
  credential: Signed,
  keep: CredentialFolder,
  job: Pick<Job, 'runId' | 'phase'>,
  signal: AbortSignal,
): IssuedCredential | Promise<IssuedCredential & Partial<OpenVault>> => {
  switch (credential.provider) {
    case 'token':
      return makePlain(credential, keep);
    case 'aws':
      return makeAws(credential, keep, job);
    case 'azure':
      return makeAzure(credential, keep);
    case 'gcp':
      return makeGcp(credential, keep);
    case 'kubernetes':
      return makeKubernetes(credential, keep);
    case 'vault':
      return makeVault(credential, keep, signal);
  }
};

/** Credentials that Terraform presents to other services during one phase: files, variables, leases. */
export class Identity {
  readonly #folder: string;
  readonly #made: One[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * @param folder for the credential files; created, and removed at the end
   * @param signal aborts requests to other services
   * @throws {PhaseError} if a service refuses to issue credentials; all others are revoked then
   */
  static async make(
    folder: string,
    job: Pick<Job, 'runId' | 'phase'> & { identity: NonNullable<Job['identity']> },
    signal: AbortSignal,
  ): Promise<Identity> {
    const { credentials, backed } = job.identity;
    const identity = new Identity(folder);
    removeForeign(folder);
    mkdirSync(folder, { mode: 0o700 });
    try {
      await identity.#add(credentials, (credential, keep) => make(credential, keep, job, signal));
      await identity.#add(backed, (credential, keep) =>
        makeBacked(credential, identity.#vault(credential), keep, signal),
      );
      return identity;
    } catch (error) {
      await identity.end();
      throw error;
    }
  }

  async #add<C extends Signed | BackedCredential>(
    credentials: C[],
    make: (credential: C, keep: CredentialFolder) => One['made'] | Promise<One['made']>,
  ): Promise<void> {
    const results = await Promise.allSettled(
      credentials.map(async (credential) => {
        const { provider, tag } = credential;
        this.#made.push({ provider, tag, made: await make(credential, new CredentialFolder(this.#folder, tag)) });
      }),
    );
    // Fails only after all have settled: credentials that other services issued must be revoked.
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  #vault({ vault }: BackedCredential): OpenVault {
    const { ask } = this.#made.find(({ provider, tag }) => provider === 'vault' && tag === vault)?.made ?? {};
    if (!ask) throw new PhaseError(`Vault configuration with tag ${vault} not found.`);
    return { ask };
  }

  /** Values that logs must not show, besides the tokens themselves. */
  get secrets(): string[] {
    return this.#made.flatMap(({ made }) => made.secrets ?? []);
  }

  /**
   * Variables for Terraform's processes. Empty for a provider with several configurations: the environment would
   * override those with a tag, so each provider block has to name its configuration (HCP Terraform: specifying
   * multiple configurations).
   */
  get environment(): Record<string, string> {
    const several = new Set(this.#made.filter(({ tag }) => tag).map(({ provider }) => provider));
    several.delete('token');
    const single = this.#made.filter(({ provider }) => !several.has(provider));
    return Object.assign({}, ...single.map(({ made }) => made.environment)) as Record<string, string>;
  }

  /**
   * `tfc_<provider>_dynamic_credentials`, for configurations that declare it.
   * @param declared names of the configuration's variables
   * @param pathOf a file's path as Terraform sees it
   */
  variables(declared: string[], pathOf: (file: string) => string): JobVariable[] {
    const providers = new Set(this.#made.filter(({ made }) => made.entry).map(({ provider }) => provider));
    return [...providers]
      .map((provider) => ({ provider, key: `tfc_${provider}_dynamic_credentials` }))
      .filter(({ key }) => declared.includes(key))
      .map(({ provider, key }) => ({
        key,
        value: this.#value(provider, pathOf),
        category: 'terraform',
        hcl: true,
        sensitive: false,
      }));
  }

  /** Revokes all credentials and removes their files. */
  async end(): Promise<void> {
    removeForeign(this.#folder);
    await Promise.all(this.#made.splice(0).map(({ made }) => made.end?.()));
  }

  #value(of: Provider, pathOf: (file: string) => string): string {
    const withPaths = (entry: Entry) =>
      Object.fromEntries(
        Object.entries(entry).map(([name, value]) => [name, isFile(value) ? pathOf(value.file) : value]),
      );
    const entries = this.#made
      .filter(({ provider }) => provider === of)
      .map(({ tag, made }) => ({ tag, entry: withPaths(made.entry ?? {}) }));
    const untagged = entries.find(({ tag }) => tag === undefined);
    const aliases = entries.filter(({ tag }) => tag !== undefined).map(({ tag, entry }) => [tag, entry]);
    return asExpression({ default: untagged?.entry ?? null, aliases: Object.fromEntries(aliases) });
  }
}

const isFile = (value: string | File | null): value is File => typeof value === 'object' && value !== null;

/** JSON is a valid HCL expression, except for template sequences in its strings. */
const asExpression = (value: unknown): string => JSON.stringify(value).replaceAll(/[$%](?=\{)/g, (sign) => sign + sign);
