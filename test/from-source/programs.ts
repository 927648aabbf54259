import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { coderAtHand, provideCoder } from '#test/e2e/support/coder-tools.ts';
import { giteaBinary, provideGitea } from '#test/version-control/gitea/binary.ts';

/** Unmodified third-party programs, and the tests that skip without them. */
export interface Program {
  name: string;
  isAtHand(): boolean;
  /** Builds it with Go, into the user's cache. */
  provide(signal: AbortSignal): Promise<string>;
  /** Folder with its tests and the modules that they import. */
  tests: { folder: string; importing: string };
}

export const programs: Program[] = [
  {
    name: 'coder',
    isAtHand: () => coderAtHand() !== undefined,
    provide: provideCoder,
    tests: { folder: 'test/e2e', importing: './support/coder-session.ts' },
  },
  {
    name: 'gitea',
    isAtHand: () => giteaBinary() !== undefined,
    provide: provideGitea,
    tests: { folder: 'test/version-control/e2e', importing: '../gitea/binary.ts' },
  },
];

const root = resolve(import.meta.dirname, '../..');

/** Paths from the root. */
export const testsOf = ({ tests: { folder, importing } }: Pick<Program, 'tests'>): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(root, folder, name))
    .filter((file) => readFileSync(file, 'utf8').includes(`from '${importing}'`))
    .map((file) => relative(root, file));
