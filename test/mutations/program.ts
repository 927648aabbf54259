import { appendFileSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Preloaded by Node programs that tests start (covered.ts), such as the command line: replaces sources as run.ts does
 * in the tests' own process, and records which mutants' places the program has executed.
 */

const [sources = '', list, test] = ['sources', 'list', 'test'].map(
  (name) => new URL(import.meta.url).searchParams.get(name) ?? '',
);
const codeOf = new Map(JSON.parse(readFileSync(sources, 'utf8')) as [path: string, code: string][]);
registerHooks({
  load: (url, context, next) => {
    const source = url.startsWith('file:') ? codeOf.get(fileURLToPath(url)) : undefined;
    return source === undefined ? next(url, context) : { format: 'module-typescript', source, shortCircuit: true };
  },
});

const executed = new Set<number>();
Object.assign(globalThis, { __vitest_executed: executed });
process.on('exit', () => {
  if (list && executed.size > 0) appendFileSync(list, `${JSON.stringify({ test, mutants: [...executed] })}\n`);
});
