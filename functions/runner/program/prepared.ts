import type { Binary } from './binary/find.ts';
import type { RootModule } from './workspace/configuration.ts';

/** An initialized configuration, and the facts that an apply needs from its plan's runner. */
export interface Prepared {
  binary: Binary;
  /** Absolute and real path of the working directory. */
  directory: string;
  module: RootModule;
  /** As it was right after `terraform init`; absent where every provider is Terraform's own. */
  lockFile?: Buffer;
  /** Hex, of the stored plan file: only that file is applied in this directory. */
  planSha256?: string;
}
