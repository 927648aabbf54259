import { readFileSync } from 'node:fs';

/** How the user starts this program: `npx` does not put it on the PATH (npm exec: environment). */
export const programOf = ({ npm_command, npm_lifecycle_script = '' }: NodeJS.ProcessEnv): string =>
  npm_command === 'exec' && /\bstepform\b/.test(npm_lifecycle_script) ? 'npx stepform' : 'stepform';

export const program = programOf(process.env);

/** How requests name this program. */
export const userAgent = (): string => `stepform/${version()}`;

/** Version of the checkout or package. */
export const version = (): string =>
  (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
