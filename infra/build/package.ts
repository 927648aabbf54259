import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build as bundle, type Plugin } from 'esbuild';
import { bundlesOfPrograms, root } from '#platform/program.ts';
import { locked } from './file-lock.ts';
import { noticesFile, noticesOf, packagesIn } from './notices.ts';
import { bundlePrograms } from './programs.ts';
import { settingsTypes } from './settings-types.ts';
import { build } from './stamps.ts';
import { synthesize } from './synth.ts';

/**
 * `npm run package [folder]`: the package as a tarball, by default in `.build`. It has no dependency and no source: its
 * programs (programs.ts), the functions, the page, the runner and the template, so that its first start builds nothing;
 * and the construct with types.
 */

const entry = 'infra/stack/stepform';
const construct = join(build, 'construct');

/** The functions' own code, which only the build of routes imports. */
const codeOfFunctions: Plugin = {
  name: 'code-of-functions',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^#/ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined)),
};

const bundleConstruct = async (): Promise<string[]> => {
  const { metafile } = await bundle({
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
    metafile: true,
    logLevel: 'silent',
  });
  return packagesIn(metafile);
};

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

/** Files of the package, at the same paths as in a checkout. */
const contents = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'cdk.json',
  'functions/clients/cli/stepform.mjs',
  'functions/runner/program/fetch-program.mjs',
  'infra/build/base-images.json',
  'infra/changes',
  'infra/ci',
  'infra/docs',
  'infra/local/aws/ecs/runner-process.mjs',
  'infra/local/demo',
  'infra/local/host/follow-platform.mjs',
  'infra/server',
  '.build/assembly',
  '.build/bundles.json',
  '.build/construct',
  '.build/functions',
  bundlesOfPrograms,
  '.build/runner',
  '.build/runner-program',
  '.build/stack-d151621b.json',
];

/** Assets of the assembly are copies of the functions, and the platform serves the API's description and pictures. @param path absolute */
const isShipped = (path: string): boolean => {
  const name = path.slice(root.length);
  if (name === '/infra/docs/openapi.json' || name === '/infra/docs/pictures') return false;
  if (name.startsWith('/.build/assembly/')) return name.endsWith('.template.json');
  return !name.endsWith('.ts') || name.endsWith('.d.ts');
};

/** Only a deployment needs the CDK. */
const manifest = async () => {
  const own = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { name, version, description, keywords, license, repository, bin, dependencies, peerDependencies } = own;
  const peers = { 'aws-cdk': dependencies['aws-cdk'], ...peerDependencies };
  const types = './.build/construct/stepform.d.ts';
  const main = './.build/construct/stepform.mjs';
  return {
    ...{ name, version, description, keywords, license, repository, type: 'module', bin, main, types },
    exports: { '.': { types, default: main }, './package.json': './package.json' },
    engines: { node: '>=22.19' },
    // A publication names the commit and the build that made it, which npm requires `repository` for.
    publishConfig: { access: 'public', provenance: true },
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((peer) => [peer, { optional: true }])),
  };
};

const pack = async (): Promise<string> => {
  const { bundles } = await synthesize();
  await rm(construct, { recursive: true, force: true });
  await mkdir(construct, { recursive: true });
  const [programs, ofConstruct] = await Promise.all([bundlePrograms(), bundleConstruct(), makeTypes()]);
  const staged = join(build, 'package');
  await rm(staged, { recursive: true, force: true });
  for (const path of contents) {
    await cp(join(root, path), join(staged, path), {
      recursive: true,
      filter: isShipped,
    });
  }
  const packages = [...new Set([...bundles.packages, ...programs, ...ofConstruct])].sort();
  await writeFile(join(staged, noticesFile), await noticesOf(packages));
  await writeFile(join(staged, 'package.json'), JSON.stringify(await manifest(), null, 2));
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', staged, '--pack-destination', process.argv[2] ?? build],
    {
      cwd: root,
    },
  );
  return stdout.trim();
};

// Two at once would write the same folders.
console.log(await locked(join(build, 'package.lock'), pack));
