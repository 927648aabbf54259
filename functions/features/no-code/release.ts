import type { Details } from '#resources/registry/modules/ingest.ts';

/** A version of a module, with the declarations that a no-code module needs. */
export interface Release {
  version: string;
  root: Pick<Details['root'], 'inputs' | 'outputs'>;
}
