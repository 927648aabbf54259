import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the platform's own programs are: sources in a checkout, bundles in the installed package. */

/** Root folder of the checkout, or of the installed package. */
export const root = resolve(import.meta.dirname, '../..');

/** Folder of the programs' bundles. */
export const bundlesOfPrograms = '.build/program';

/** Path of a program's bundle in the package, because Node strips no types below node_modules. */
export const bundleOf = (source: string): string =>
  `${bundlesOfPrograms}/${source.replaceAll('/', '-').replace(/\.ts$/, '.mjs')}`;

/** Whether this is the installed package. */
export const isInstalled = !existsSync(join(root, 'functions/platform/program.ts'));

/** Absolute path at which Node starts a program. @param source `infra/local/commands/start.ts` */
export const programFile = (source: string): string => join(root, isInstalled ? bundleOf(source) : source);
