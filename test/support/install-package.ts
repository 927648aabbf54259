import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { locked } from '#infra/build/file-lock.ts';

const run = promisify(execFile);

// The Node of the tests, because the machine's own may be too old.
const npm = (args: string[], cwd: string) =>
  run('npm', args, { cwd, env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` } });

/**
 * The package of this checkout, built once per test run.
 * @returns path of its tarball
 */
export const packedOnce = (): Promise<string> => {
  const folder = join(tmpdir(), 'packed');
  const packed = () => (existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('.tgz')) : undefined);
  return locked(`${folder}.lock`, async () => {
    mkdirSync(folder, { recursive: true });
    if (!packed()) await npm(['pack', '--pack-destination', folder], '.');
    return join(folder, packed() ?? '');
  });
};

/** Installs from the registry, like a user: it takes a minute and 330 MB. */
const byNpm = (tarball: string, folder: string) =>
  npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', tarball], folder);

interface Locked {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/** Names of the packages that npm puts into a folder's node_modules beside the package. */
const dependenciesOf = (manifest: Locked): Set<string> => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  const found = new Set<string>();
  const visit = (of: Locked): void => {
    for (const name of Object.keys({ ...of.dependencies, ...of.optionalDependencies, ...of.peerDependencies })) {
      const entry = packages[`node_modules/${name}`];
      if (!entry || found.has(name) || of.peerDependenciesMeta?.[name]?.optional) continue;
      found.add(name);
      visit(entry);
    }
  };
  visit(manifest);
  return found;
};

/** Links exactly its dependencies from this checkout. */
const byLinks = async (tarball: string, folder: string) => {
  const modules = join(folder, 'node_modules');
  rmSync(modules, { recursive: true, force: true });
  const target = join(modules, 'stepform');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  for (const name of dependenciesOf(JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as Locked)) {
    const path = join('node_modules', name);
    if (!existsSync(path)) continue; // Built for another system.
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(resolve(path), join(folder, path));
  }
  mkdirSync(join(modules, '.bin'));
  symlinkSync('../stepform/functions/clients/cli/stepform.mjs', join(modules, '.bin/stepform'));
  chmodSync(join(target, 'functions/clients/cli/stepform.mjs'), 0o755);
};

/** `npm install <tarball>` in a folder, replacing the installed version. With npm itself if `STEPFORM_PACKAGE=npm`. */
export const installPackage = async (tarball: string, folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  await (process.env.STEPFORM_PACKAGE === 'npm' ? byNpm : byLinks)(tarball, folder);
};
