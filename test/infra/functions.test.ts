import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { functionIds, functions } from '#infra/stack/functions.ts';

const root = new URL('../..', import.meta.url);

/** Prints the path of every loaded module, relative to the checkout's root. */
const loadedBy = (file: string): string[] => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(new URL(file, root).href)});
    console.log(JSON.stringify(loaded));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  return (JSON.parse(printed) as string[]).map((url) => url.replace(root.href, ''));
};

it('declarations load neither the CDK nor a handler', () => {
  const loaded = loadedBy('infra/stack/functions.ts');
  expect(loaded.length).toBeGreaterThan(functionIds.length);
  const own = /^infra\/(functions\/[\w-]+|stack\/(functions|declaration|shared-rights))\.ts$/;
  expect(loaded.filter((file) => !own.test(file))).toEqual([]);
});

it.each(functionIds)('%s is declared in a file of its own, and has an entry', (id) => {
  const file = id.replaceAll(/\B[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  expect(existsSync(new URL(`infra/functions/${file}.ts`, root))).toBe(true);
  expect(existsSync(new URL(functions[id].entry, root))).toBe(true);
});
