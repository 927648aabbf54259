import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file whose path Terraform gets, relative to the working directory; plans store that path. */
export interface File {
  file: string;
}

/** A credential that was issued for the run. */
export interface IssuedCredential {
  /** For Terraform's processes; not used where the provider has several configurations. */
  environment: Record<string, string>;
  /** The configuration's entry in `tfc_<provider>_dynamic_credentials`; absent if HCP Terraform has no such variable. */
  entry?: Record<string, string | File | null>;
  /** Further secrets, which logs must not show. */
  secrets?: string[];
  /** Revokes credentials that other services issued. */
  end?(): Promise<void>;
}

/** A Vault session of the run. */
export interface OpenVault {
  /**
   * Reads a path, or writes to it.
   * @returns the `data` of the answer
   * @throws {PhaseError} with Vault's error
   */
  ask(path: string, body?: object): Promise<Record<string, string>>;
}

/** The private folder that holds credentials. */
export class CredentialFolder {
  readonly #folder: string;
  readonly #suffix: string;

  constructor(folder: string, tag: string | undefined) {
    this.#folder = folder;
    this.#suffix = tag === undefined ? '' : `-${tag}`;
  }

  /** @returns its absolute path */
  write(name: string, content: string): string {
    const path = join(this.#folder, `${name}${this.#suffix}`);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }
}
