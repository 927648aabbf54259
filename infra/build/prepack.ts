import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build as bundle, type Plugin } from 'esbuild';
import { settingsTypes } from './settings-types.ts';
import { build, root } from './stamps.ts';
import { synthesize } from './synth.ts';

/**
 * Builds what the package contains besides its sources, before `npm pack`: functions, page, runner and template, so that
 * its first start builds nothing; and the construct as JavaScript with types, because Node strips no types below
 * node_modules, and an importing project must not check our sources.
 */

const entry = 'infra/stack/stepform';
const construct = join(build, 'construct');

/** The functions' own code, which only the build of routes imports. */
const codeOfFunctions: Plugin = {
  name: 'code-of-functions',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^#/ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined)),
};

const bundleConstruct = () =>
  bundle({
    absWorkingDir: root,
    entryPoints: [`${entry}.ts`],
    outfile: join(construct, 'stepform.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    external: ['aws-cdk-lib', 'constructs'],
    plugins: [codeOfFunctions],
    legalComments: 'none',
    logLevel: 'silent',
  });

/** The construct's own types refer only to the CDK and to the settings. */
const makeTypes = async (): Promise<void> => {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', 'functions'], { cwd: root });
  const types = await readFile(join(build, 'types/node', `${entry}.d.ts`), 'utf8');
  await Promise.all([
    writeFile(join(construct, 'stepform.d.ts'), types.replace('#infra/settings/settings.ts', './settings.js')),
    writeFile(join(construct, 'settings.d.ts'), settingsTypes()),
  ]);
};

await synthesize();
await rm(construct, { recursive: true, force: true });
await mkdir(construct, { recursive: true });
await Promise.all([bundleConstruct(), makeTypes()]);
