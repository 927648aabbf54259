import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzip as gzipWith } from 'node:zlib';
import { tarBlocks } from '#platform/formats/tar-writer.ts';
import { giveBuild } from './synth.ts';

/**
 * `npm run package`: the platform as a tarball that needs no checkout. Its dependencies are those of the command line,
 * the local platform and a deployment, at the versions of package-lock.json. It contains the built functions, page and
 * runner, so that its first start builds nothing.
 */

const gzip = promisify(gzipWith);
const root = resolve(import.meta.dirname, '../..');

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  [more: string]: unknown;
}

interface Locked {
  version?: string;
  dev?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  [more: string]: unknown;
}
interface Lock {
  packages: Record<string, Locked>;
  [more: string]: unknown;
}

/**
 * Packages besides the imported ones: tools that the platform runs, and dependencies of dependencies that it loads
 * directly.
 */
const extraPackages = [
  '@aws-sdk/credential-provider-env',
  'nodemailer',
  'aws-cdk',
  'aws-cdk-lib',
  'constructs',
  'esbuild',
  'selfsigned',
  'ws',
];
const contents = ['functions', 'infra', 'cdk.json', 'tsconfig.json', 'LICENSE', 'README.md'];

const manifestOf = ({ name, version, dependencies, ...all }: Manifest, { packages }: Lock): object => {
  const { description, license, type, imports, engines, bin } = all;
  const extraVersions = Object.fromEntries(
    extraPackages.map((name) => [name, packages[`node_modules/${name}`]?.version]),
  );
  return {
    name,
    version,
    description,
    license,
    type,
    imports,
    engines,
    bin,
    dependencies: { ...dependencies, ...extraVersions },
  };
};

/** Where npm installed a package that another one loads: below it, or above. */
const placeOf = (packages: Lock['packages'], from: string, name: string): string | undefined => {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder ? `${folder}/node_modules/${name}` : `node_modules/${name}`;
    if (packages[path]) return path;
    if (!folder) return undefined;
  }
};

/** The part of the lock file for the given packages. */
export const shrinkwrapOf = (lock: Lock, manifest: { dependencies: Record<string, string> }): Lock => {
  const included = new Map<string, Locked>();
  const visit = (
    from: string,
    { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Locked,
  ) => {
    const optionalPeer = (name: string) => peerDependenciesMeta?.[name]?.optional === true;
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => !optionalPeer(name));
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const path = placeOf(lock.packages, from, name);
      if (!path || included.has(path)) continue;
      const { dev: _, ...entry } = lock.packages[path] as Locked;
      included.set(path, entry);
      visit(path, entry);
    }
  };
  visit('', manifest);
  const packages = Object.fromEntries([...included].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...lock, packages: { '': manifest as Locked, ...packages } };
};

/** @returns absolute path of the tarball */
export const makePackage = async (out = join(root, '.build')): Promise<string> => {
  const folder = join(out, 'package');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const read = async (name: string) => JSON.parse(await readFile(join(root, name), 'utf8'));
  const [own, lock] = (await Promise.all([read('package.json'), read('package-lock.json')])) as [Manifest, Lock];
  const manifest = manifestOf(own, lock) as { dependencies: Record<string, string> };
  const write = (name: string, content: object) =>
    writeFile(join(folder, name), `${JSON.stringify(content, null, 2)}\n`);
  await Promise.all([
    write('package.json', manifest),
    write('npm-shrinkwrap.json', shrinkwrapOf(lock, manifest)),
    ...contents.map((name) => cp(join(root, name), join(folder, name), { recursive: true })),
  ]);
  await giveBuild(folder);
  const tarball = join(out, `${own.name}-${own.version}.tgz`);
  await writeFile(tarball, await packed(folder));
  return tarball;
};

/**
 * Packs like npm (everything below `package/`), reproducibly and in an eighth of npm's processor time: a lower
 * compression level makes built functions no larger.
 */
const packed = async (folder: string): Promise<Buffer> => {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
  const names = files.map((one) => relative(folder, join(one.parentPath, one.name))).sort();
  const entries = names.map((name) => ({
    path: `package/${name.replaceAll('\\', '/')}`,
    bytes: readFileSync(join(folder, name)),
  }));
  return gzip(Buffer.concat(tarBlocks(entries)), { level: 4 });
};

if (import.meta.main) console.log(await makePackage());
