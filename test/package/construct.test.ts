import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage, packedOnce } from '#test/support/install-package.ts';

/** A company's CDK app with the construct from the tarball, in a folder outside the checkout. */

const folder = mkdtempSync(join(tmpdir(), 'stepform-construct-'));
const node = (...args: string[]) =>
  promisify(execFile)(process.execPath, args, {
    cwd: folder,
    // Only Node: no Docker, no credentials, no network.
    env: {
      PATH: dirname(process.execPath),
      HOME: folder,
      CI: 'true',
      NODE_OPTIONS: `--require=${resolve('test/infra/no-network.cjs')}`,
    },
  });
const program = (name: string) => join(folder, 'node_modules', name);

beforeAll(async () => {
  cpSync('infra/example', folder, { recursive: true });
  await installPackage(await packedOnce(), folder);
  // A tool of the company.
  symlinkSync(resolve('node_modules/typescript'), program('typescript'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const template = (name: string) => JSON.parse(readFileSync(join(folder, 'cdk.out', name), 'utf8'));

describe('the construct in the package', () => {
  it('is typed, and synthesizes the example app', async () => {
    await node(program('typescript/bin/tsc'));
    await node(program('aws-cdk/bin/cdk'), 'synth', '--quiet');
    const { Resources, Outputs } = template('Terraform.template.json');
    expect(Object.keys(Outputs)).toEqual(expect.arrayContaining(['Url', 'Bootstrap']));
    const functions = Object.values<{ Type: string; Metadata?: Record<string, string> }>(Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    );
    expect(functions.length).toBeGreaterThan(55);
    // The prebuilt functions are the assets.
    const code = readdirSync(join(folder, 'cdk.out')).filter((name) => name.startsWith('asset.'));
    expect(code.length).toBeGreaterThan(50);
    const nested = readdirSync(join(folder, 'cdk.out')).filter((name) => name.endsWith('.nested.template.json'));
    expect(nested).toHaveLength(1);
    expect(Object.keys(template(nested[0] as string).Resources).length).toBeGreaterThan(190);
    // CloudFormation: 1 MB (quotas); the CDK indents templates.
    for (const name of ['Terraform.template.json', ...nested])
      expect(readFileSync(join(folder, 'cdk.out', name)).length, name).toBeLessThan(1_000_000);
  }, 300_000);

  it('refuses misspelled props at compile time', async () => {
    writeFileSync(
      join(folder, 'wrong.ts'),
      "import { App, Stack } from 'aws-cdk-lib/core';\nimport { Stepform } from 'stepform';\nnew Stepform(new Stack(new App(), 'A'), 'B', { runnerCpus: '7' });\n",
    );
    writeFileSync(
      join(folder, 'tsconfig.wrong.json'),
      JSON.stringify({ extends: './tsconfig.json', compilerOptions: { noEmit: true }, files: ['wrong.ts'] }),
    );
    await expect(node(program('typescript/bin/tsc'), '-p', 'tsconfig.wrong.json')).rejects.toMatchObject({
      stdout: expect.stringContaining("'runnerCpus' does not exist"),
    });
  });

  it('loads in an app of CommonJS modules, as "cdk init" makes them', async () => {
    writeFileSync(join(folder, 'load.cjs'), "console.log(typeof require('stepform').Stepform)");
    expect((await node('load.cjs')).stdout).toBe('function\n');
  });

  it('contains no tests, and documents every prop', () => {
    const root = join(folder, 'node_modules/stepform');
    expect(readdirSync(root, { recursive: true }).filter((name) => String(name).endsWith('.test.ts'))).toEqual([]);
    expect(existsSync(join(root, 'test'))).toBe(false);
    const types = ['stepform.d.ts', 'settings.d.ts'].map((name) =>
      readFileSync(join(root, '.build/construct', name), 'utf8'),
    );
    const lines = types.join('\n').split('\n');
    const undocumented = lines.filter(
      (line, n) => /^ {2,4}(readonly )?\w+\??: /.test(line) && !lines[n - 1]?.includes('*/'),
    );
    expect(undocumented.map((line) => /\w+(?=\??:)/.exec(line)?.[0])).toEqual([]);
  });
});
