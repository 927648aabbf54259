import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Node does not strip types below node_modules (Node: TypeScript, type stripping in dependencies), and builds need a
 * writable folder. So the installed package runs from a copy in the user's cache, renewed after each installation.
 */

const cacheFolder = () => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'stepform', 'package');

/** Folder of an installed dependency: npm puts it below its dependent, or above. */
const installed = (from, name) => {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (existsSync(join(path, 'package.json'))) return path;
    if (dirname(folder) === folder) throw new Error(`${name} is not installed; install stepform again`);
  }
};

const linkDependencies = (from, to) => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    const link = join(to, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(installed(from, name), link, 'junction');
  }
};

/** Absolute path of the copy of the package that is installed at `root`. */
export const ownCopy = (root) => {
  const folder = cacheFolder();
  const hash = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const prefix = hash(root);
  const name = `${prefix}-${version}-${hash(String(statSync(join(root, 'package.json')).ctimeMs))}`;
  const copy = join(folder, name);
  if (existsSync(copy)) return copy;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const part = join(folder, `${name}.${process.pid}`);
  rmSync(part, { recursive: true, force: true });
  for (const entry of readdirSync(root)) {
    if (entry !== 'node_modules') cpSync(join(root, entry), join(part, entry), { recursive: true });
  }
  linkDependencies(root, part);
  try {
    renameSync(part, copy);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    // Another process was first.
    if (!existsSync(copy)) throw error;
  }
  // Copies of former installations at this path.
  for (const copy of readdirSync(folder)) {
    if (copy.startsWith(`${prefix}-`) && copy !== name && !copy.startsWith(`${name}.`)) {
      rmSync(join(folder, copy), { recursive: true, force: true });
    }
  }
  return copy;
};
