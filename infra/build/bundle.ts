import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip as gzipWith } from 'node:zlib';
import { type BuildOptions, type BuildResult, build as buildWith, type Plugin, stop } from 'esbuild';
import { type ApiRoute, deriveApiRoutes } from '#infra/stack/api-routes.ts';
import { type FunctionId, functionIds, functions } from '#infra/stack/functions.ts';
import { noticesFile, noticesOf, packagesIn } from './notices.ts';
import { sdkPlugin } from './sdk.ts';
import { servedFilesPlugin } from './served-files.ts';

const gzip = promisify(gzipWith);

/** Bundle of one function. */
export interface Bundle {
  /** Absolute path of index.js (CommonJS, exports `handler`). */
  file: string;
  bytes: number;
}

export interface Bundles {
  functions: Record<FunctionId, Bundle>;
  /** Absolute path of the runner's main module. The image and agents start it. */
  runner: string;
  /** Absolute path of one file with the runner's whole program, for containers whose image lacks it. */
  runnerArchive: string;
  /** Absolute path of the module that runs one task. The main module and the local platform's runners import it. */
  runnerProgram: string;
  /** The paths that each function serves, derived from its routes. */
  apiRoutes: ApiRoute[];
  /** Folders of packages whose code is in any bundle, relative to the checkout. */
  packages: string[];
}

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  minify: true,
  mainFields: ['module', 'main'],
  sourcemap: true,
  // Stack traces need only positions; the sources are in the repository.
  sourcesContent: false,
  // The licences are in a file of their own (notices.ts).
  legalComments: 'none',
  metafile: true,
  charset: 'utf8',
  logLevel: 'silent',
} satisfies BuildOptions & WithMetafile;

interface WithMetafile {
  metafile: true;
}

/**
 * The bundler is a Go program that starts with the first call. Its garbage collection is off, because the program ends
 * soon: a build takes 4.9 s of processor time instead of 7.6 s, and 1.3 GB of memory instead of 1.1 GB. {@link bundle}
 * stops the program, which would otherwise run as long as this process.
 */
const build = (options: BuildOptions & WithMetafile): Promise<BuildResult<WithMetafile>> => {
  const { GOGC } = process.env;
  process.env.GOGC ??= 'off';
  try {
    return buildWith(options);
  } finally {
    if (GOGC === undefined) delete process.env.GOGC;
  }
};

/**
 * Builds every function into `<out>/functions/<id>/index.js` and the runner's image context into `<out>/runner`. The
 * output depends only on the sources, byte for byte.
 * @param root the checkout
 * @throws {BuildFailure} of esbuild, whose message names file and line
 */
export const bundle = async (root: string, out: string): Promise<Bundles> => {
  const outdirs = { functions: join(out, 'functions'), runner: join(out, 'runner') };
  const [apiRoutes, ...packages] = await Promise.all([
    deriveApiRoutes(),
    bundleFunctions(root, outdirs.functions),
    bundleRunner(root, outdirs.runner),
  ]).finally(stop);
  const entries = functionIds.map(async (id) => {
    const file = join(outdirs.functions, id, 'index.js');
    return [id, { file, bytes: (await stat(file)).size }] as const;
  });
  return {
    functions: Object.fromEntries(await Promise.all(entries)) as Bundles['functions'],
    runner: join(outdirs.runner, 'main.mjs'),
    runnerArchive: await archiveRunner(outdirs.runner, out),
    runnerProgram: join(outdirs.runner, 'program.mjs'),
    apiRoutes,
    packages: [...new Set(packages.flat())].sort(),
  };
};

/** @returns packages in the bundles */
const bundleFunctions = async (root: string, outdir: string): Promise<string[]> => {
  await rm(outdir, { recursive: true, force: true });
  const served: string[] = [];
  const { metafile } = await build({
    ...shared,
    absWorkingDir: root,
    entryPoints: functionIds.map((id) => ({ in: functions[id].entry, out: `${id}/index` })),
    outdir,
    format: 'cjs',
    inject: [join(root, 'infra/build/stack-traces.ts')],
    plugins: [invocationPlugin(root), sdkPlugin(root), servedFilesPlugin(root, served)],
  });
  await compressMaps(outdir);
  // Otherwise Node would load the bundles as ES modules, because of the checkout's package.json.
  await writeFile(join(outdir, 'package.json'), '{"type":"commonjs"}\n');
  return [...served, ...packagesIn(metafile)];
};

/**
 * They are most of a bundle's size, and read only for a stack trace, which shows no names (stack-traces.ts). The highest
 * level would save 2 % of it, for three times the processor time.
 */
const compressMaps = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.map')) continue;
    const file = join(folder, name);
    const map = { ...JSON.parse(await readFile(file, 'utf8')), names: [] };
    await writeFile(`${file}.gz`, await gzip(JSON.stringify(map)));
    await rm(file);
  }
};

/** Every function's handler runs as an invocation that its log lines name (functions/platform/store/invocation.ts). */
const invocationPlugin = (root: string): Plugin => ({
  name: 'invocation',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/functions\// }, ({ path, kind }) =>
      kind === 'entry-point' ? { path: join(root, path), namespace: 'handler' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'handler' }, ({ path }) => ({
      contents: `import { asInvocation } from '#platform/store/invocation.ts';
import { handler as work } from ${JSON.stringify(path)};
export const handler = asInvocation(work);`,
      resolveDir: root,
    }));
  },
});

/**
 * Files of the runner, beside its Dockerfile. Each is one bundle, because Node loads one large file faster than many
 * small ones.
 */
const runnerFiles = {
  main: 'functions/runner/program/main.ts',
  program: 'functions/runner/program/program.ts',
};

/** Imports between the runner's files stay imports. */
const runnerFilesPlugin: Plugin = {
  name: 'runner-files',
  setup({ onResolve }) {
    onResolve({ filter: /\/program\.ts$/ }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: `./${basename(path, '.ts')}.mjs`, external: true },
    );
  },
};

/**
 * The image's build context.
 * @returns packages in the bundles
 */
const bundleRunner = async (root: string, outdir: string): Promise<string[]> => {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const [{ metafile }] = await Promise.all([
    build({
      ...shared,
      absWorkingDir: root,
      outdir,
      plugins: [runnerFilesPlugin],
      entryPoints: Object.entries(runnerFiles).map(([out, entry]) => ({ in: entry, out })),
      outExtension: { '.js': '.mjs' },
      format: 'esm',
      inject: [join(root, 'infra/build/stack-traces.ts')],
      // CommonJS dependencies inside an ES module still call `require` for Node's own modules.
      banner: {
        js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url),__filename=import.meta.filename;",
      },
    }),
    cp(join(root, 'functions/runner/program/Dockerfile'), join(outdir, 'Dockerfile')),
  ]);
  await compressMaps(outdir);
  const packages = packagesIn(metafile);
  await writeFile(join(outdir, noticesFile), await noticesOf(packages));
  return packages;
};

/** Byte for byte the same for the same sources. No other asset has a name with this ending. */
const archiveRunner = async (folder: string, out: string): Promise<string> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.mjs')).sort();
  const files = names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const);
  const path = join(out, 'runner-program/program.stepform-runner');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await gzip(JSON.stringify(Object.fromEntries(await Promise.all(files))), { level: 9 }));
  return path;
};
