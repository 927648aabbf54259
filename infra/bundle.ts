import { cp, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { type ApiRoute, deriveApiRoutes } from './api-routes.ts';
import { type FunctionId, functionIds, functions } from './functions.ts';
import { pagePlugin } from './page.ts';
import { sdkPlugin } from './sdk.ts';

/** Bundle of one function. */
export interface Bundle {
  /** Absolute path of index.js (CommonJS, exports `handler`). */
  file: string;
  bytes: number;
}

export interface Bundles {
  functions: Record<FunctionId, Bundle>;
  /** Absolute path of the runner program (ESM), which the image and the local platform start. */
  runner: string;
  /** Which function answers which path, derived from what the functions answer. */
  apiRoutes: ApiRoute[];
}

const shared: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  minify: true,
  mainFields: ['module', 'main'],
  sourcemap: true,
  // Stack traces need positions only; the sources are in the repository.
  sourcesContent: false,
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'silent',
};

/**
 * Builds every function into `<out>/functions/<id>/index.js` and the runner's image context into `<out>/runner`. The
 * same sources give the same bytes.
 *
 * @param root the checkout
 * @throws {BuildFailure} of esbuild, whose message names file and line
 */
export const bundle = async (root: string, out: string): Promise<Bundles> => {
  const outdirs = { functions: join(out, 'functions'), runner: join(out, 'runner') };
  const [apiRoutes] = await Promise.all([
    deriveApiRoutes(),
    bundleFunctions(root, outdirs.functions),
    bundleRunner(root, outdirs.runner),
  ]);
  const entries = functionIds.map(async (id) => {
    const file = join(outdirs.functions, id, 'index.js');
    return [id, { file, bytes: (await stat(file)).size }] as const;
  });
  return {
    functions: Object.fromEntries(await Promise.all(entries)) as Bundles['functions'],
    runner: join(outdirs.runner, 'main.mjs'),
    apiRoutes,
  };
};

const bundleFunctions = async (root: string, outdir: string): Promise<void> => {
  await rm(outdir, { recursive: true, force: true });
  await build({
    ...shared,
    absWorkingDir: root,
    entryPoints: functionIds.map((id) => ({ in: functions[id].entry, out: `${id}/index` })),
    outdir,
    format: 'cjs',
    inject: [join(root, 'infra/stack-traces.ts')],
    plugins: [sdkPlugin(root), pagePlugin(root)],
  });
  // Otherwise Node would load the bundles as ES modules, as the checkout's package.json says.
  await writeFile(join(outdir, 'package.json'), '{"type":"commonjs"}\n');
};

/** The image's build context. Split, so that what only a download of Terraform needs is parsed only then. */
const bundleRunner = async (root: string, outdir: string): Promise<void> => {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  await Promise.all([
    build({
      ...shared,
      absWorkingDir: root,
      entryPoints: [{ in: 'functions/runner/main.ts', out: 'main' }],
      outdir,
      outExtension: { '.js': '.mjs' },
      format: 'esm',
      splitting: true,
      chunkNames: 'chunks/[name]-[hash]',
      // CommonJS dependencies inside an ES module still call `require` for Node's own modules.
      banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    }),
    cp(join(root, 'functions/runner/Dockerfile'), join(outdir, 'Dockerfile')),
  ]);
};
