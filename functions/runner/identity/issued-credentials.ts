import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file that Terraform is told of by its path from the working directory, which a plan remembers. */
export interface File {
  file: string;
}

/** What became of a credential. */
export interface IssuedCredential {
  /** For Terraform's processes; not used where the provider has several configurations. */
  environment: Record<string, string>;
  /** What `tfc_<provider>_dynamic_credentials` has for the configuration; absent where there is no such variable. */
  entry?: Record<string, string | File | null>;
  /** What came about beside the token and must not be shown. */
  secrets?: string[];
  /** Takes back what others were asked for. */
  end?(): Promise<void>;
}

/** A Vault that has let the run in. */
export interface OpenVault {
  /**
   * Reads a path, or writes to it.
   * @returns the `data` of the answer
   * @throws {PhaseError} with what Vault said
   */
  ask(path: string, body?: object): Promise<Record<string, string>>;
}

/** Where credentials are kept: a folder that nobody else may enter. */
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
