import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { bundles, resources } from './template.ts';

const run = async (script: string): Promise<string> =>
  (await promisify(execFile)(process.execPath, ['-e', script])).stdout;
const file = (id: keyof typeof bundles.functions) => JSON.stringify(bundles.functions[id].file);

it('stack traces of every bundle in a process name the sources', async () => {
  const stacks = await run(`
    const stackOf = (bundle) => require(bundle).handler({}, {}).catch((error) => console.log(error.stack));
    stackOf(${file('Bootstrap')}).then(() => stackOf(${file('Recover')}));`);
  expect(stacks).toMatch(
    /^Error: Send \{"organization"[\s\S]* at functions\/resources\/organizations\/bootstrap\.ts:\d+:\d+/,
  );
  expect(stacks).toMatch(/Error: Send \{"restoredTo"[\s\S]* at functions\/lifecycle\/recovery\/handler\.ts:\d+:\d+/);
});

it('other stack traces stay unchanged', async () => {
  const stack = await run(`require(${file('Bootstrap')}); console.log(new TypeError('other').stack)`);
  expect(stack).toMatch(/^TypeError: other\n {4}at \[eval\]:1:\d+\n/);
});

it('source maps are read only when a stack trace is read', async () => {
  const reads = await run(`
    const fs = require('node:fs');
    const { readFileSync } = fs;
    const maps = [];
    fs.readFileSync = (path, ...more) => (String(path).endsWith('.map.gz') && maps.push(path), readFileSync(path, ...more));
    require('node:module').syncBuiltinESMExports();
    const { handler } = require(${file('Bootstrap')});
    const error = handler({}, {}).catch((caught) => { const before = maps.length; caught.stack; console.log(before, maps.length); });`);
  expect(reads).toBe('0 1\n');
  for (const { Properties } of resources('AWS::Lambda::Function')) {
    expect(JSON.stringify(Properties.Environment ?? {})).not.toContain('enable-source-maps');
  }
});
