import { readFile, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { programSources } from '#clients/cli/commands/platform.ts';
import { bundleOf, bundlesOfPrograms, root } from '#platform/program.ts';
import { packagesIn } from './notices.ts';

/**
 * Bundles the command line and the programs that it starts for the package, which then needs no dependency. They share
 * their modules as chunks. A module still sees the address of its source, below the package's root.
 */

/** The command line, what it starts, the CDK's app, and the runner of agents. */
const programs = [
  'functions/clients/cli/main.ts',
  'functions/runner/program/main.ts',
  'infra/stack/app.ts',
  ...programSources,
];

const addressPlugin: Plugin = {
  name: 'address',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/(functions|infra)\/.*\.ts$/ }, async ({ path }) => {
      const source = relative(root, path);
      const at = (of: string) => `__inPackage(${JSON.stringify(of)})`;
      const contents = (await readFile(path, 'utf8'))
        .replaceAll('import.meta.dirname', `__fileURLToPath(${at(dirname(source))})`)
        .replaceAll('import.meta.url', `${at(source)}.href`)
        .replaceAll('import.meta.main', 'false');
      return { contents, loader: 'ts' };
    }),
};

/** Only a checkout builds functions. */
const builderPlugin: Plugin = {
  name: 'builder',
  setup: ({ onResolve }) => onResolve({ filter: /^\.\/bundle\.ts$/ }, ({ path }) => ({ path, external: true })),
};

/**
 * @returns packages in the bundles
 * @throws {BuildFailure} of esbuild
 */
export const bundlePrograms = async (): Promise<string[]> => {
  const outdir = join(root, bundlesOfPrograms);
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: programs.map((source) => ({ in: source, out: bundleOf(source).replace(/^.*\/|\.mjs$/g, '') })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    minify: true,
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    mainFields: ['module', 'main'],
    external: ['aws-cdk-lib', 'constructs', 'esbuild'],
    plugins: [addressPlugin, builderPlugin],
    banner: {
      // CommonJS dependencies inside an ES module still call `require`.
      js: `import { createRequire as __createRequire } from 'node:module';
import { fileURLToPath as __fileURLToPath } from 'node:url';
const require = __createRequire(import.meta.url);
const __inPackage = (path) => new URL('../../' + path, import.meta.url);`,
    },
    legalComments: 'none',
    metafile: true,
    charset: 'utf8',
    logLevel: 'silent',
  });
  return packagesIn(metafile);
};
