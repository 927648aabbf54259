import type { Binary } from './binary/find.ts';
import type { RootModule } from './workspace/configuration.ts';

/** A configuration that Terraform can be started in, and what else an apply needs of its plan's runner. */
export interface Prepared {
  binary: Binary;
  /** Absolute and real path of the working directory. */
  directory: string;
  module: RootModule;
  /** Hex, of the plan file as it was stored: what is applied in this directory is that one. */
  planSha256?: string;
}
