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
import { afterAll, describe, expect, it } from 'vitest';
import { baseImages, referenceOf } from '#infra/build/base-images.ts';
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
      // As the CDK's command line tells an app; it sets another one for its own.
      CDK_OUTDIR: 'own.out',
      NODE_OPTIONS: `--require=${resolve('test/infra/no-network.cjs')}`,
    },
  });
const program = (name: string) => join(folder, 'node_modules', name);

cpSync('infra/example', folder, { recursive: true });
await installPackage(await packedOnce(), folder, true);
// A tool of the company.
symlinkSync(resolve('node_modules/typescript'), program('typescript'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const template = (name: string) => JSON.parse(readFileSync(join(folder, 'cdk.out', name), 'utf8'));

describe('the construct in the package', () => {
  it('is typed, refuses a misspelled prop at compile time, and synthesizes the example app', async () => {
    writeFileSync(
      join(folder, 'wrong.ts'),
      "import { App, Stack } from 'aws-cdk-lib/core';\nimport { Stepform } from 'stepform';\nnew Stepform(new Stack(new App(), 'A'), 'B', { runnerCpus: '7' });\n",
    );
    writeFileSync(
      join(folder, 'tsconfig.wrong.json'),
      JSON.stringify({ extends: './tsconfig.json', files: ['app.ts', 'wrong.ts'] }),
    );
    const errors = await node(program('typescript/bin/tsc'), '-p', 'tsconfig.wrong.json').catch(({ stdout }) => stdout);
    expect(errors).toMatch(/^wrong\.ts.*'runnerCpus' does not exist/);
    expect(errors.match(/error TS/g)).toHaveLength(1);
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

  it('has the app that "stepform deploy" deploys', async () => {
    await node('node_modules/stepform/.build/program/infra-stack-app.mjs');
    const templates = readdirSync(join(folder, 'own.out')).filter((name) => name.endsWith('.template.json'));
    expect(templates.sort()).toEqual(['Stepform-Data.template.json', 'Stepform.template.json']);
  }, 300_000);

  it("builds the platform's own image from the package", async () => {
    const app = [
      "import { App, Stack } from 'aws-cdk-lib/core';",
      "import { Stepform } from 'stepform';",
      "const app = new App({ outdir: 'own-image', analyticsReporting: false, builtinCloudFormationValidation: false });",
      "new Stepform(new Stack(app, 'A'), 'Stepform', { runnerImage: 'build' });",
      'app.synth();',
    ];
    writeFileSync(join(folder, 'own-image.mjs'), app.join('\n'));
    await node('own-image.mjs');
    const { dockerImages } = JSON.parse(readFileSync(join(folder, 'own-image/A.assets.json'), 'utf8'));
    const [{ source } = { source: {} }] = Object.values<{ source: Record<string, unknown> }>(dockerImages);
    const built = readdirSync(join(folder, 'own-image', String(source.directory)));
    expect(built).toContain('Dockerfile');
    expect(source.dockerBuildArgs).toMatchObject({ NODE_IMAGE: referenceOf(baseImages().nodeSlim) });
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
