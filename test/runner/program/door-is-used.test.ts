import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/**
 * The runner opens folders that foreign code can write only through workspace/door.ts. Other files of
 * functions/runner/program may import `node:fs` only if they are listed here, with the folders they use it on.
 */
const allowed: Record<string, string[]> = {
  'the door itself': ['workspace/door.ts', 'workspace/handles.ts', 'workspace/unexpected-file.ts'],
  'folders of the runner that no other user enters (own, kept)': [
    'artifacts.ts',
    'apply.ts',
    'deferred-uploads.ts',
    'log.ts',
    'plan.ts',
    'provider-schemas.ts',
    'query.ts',
    'shared-providers.ts',
    'terraform/launch.ts',
    'transfer.ts',
  ],
  'the configuration before any foreign code has run, when it is the runner’s alone': [
    'phase.ts',
    'prepare.ts',
    'workspace/configuration.ts',
    'workspace/links.ts',
    'workspace/unpack.ts',
  ],
  'folders that it creates in the runner’s, and gives away afterwards': [
    'identity/identity.ts',
    'identity/issued-credentials.ts',
    'ssh-key.ts',
    'terraform/reachable.ts',
    'workspace/job-directory.ts',
    'workspace/override-pipe.ts',
    'workspace/tree.ts',
  ],
  'paths of the runner’s, resolved or looked for before the door opens them': [
    'workspace/record.ts',
    'workspace/taken-providers.ts',
  ],
  'the machine’s caches and programs, and /proc': [
    'binary/download.ts',
    'binary/find.ts',
    'binary/unzip.ts',
    'fetch-program.mjs',
    'kept-states.ts',
    'terraform/leftover-processes.ts',
    'terraform/machine.ts',
    'terraform/removed-files.ts',
    'terraform/separation.ts',
    'workspace/provider-cache.ts',
    'workspace/prune.ts',
  ],
  'folders of root that no other user can write, control groups and free space': [
    'terraform/control-groups.ts',
    'terraform/disk.ts',
    'terraform/executable.ts',
    'terraform/room.ts',
    'terraform/user-ids.ts',
  ],
  'a watch for changes, which reads nothing': ['state.ts'],
  'rmdir(2) of a folder whose parents are root’s: it follows no link': ['workspace/remove-folder.ts'],
};

/**
 * Code outside of the runner that opens given paths, and the runner's files that may call it: they pass only paths of
 * files that no other user can replace.
 */
const throughOthers: Record<string, string[]> = {
  'platform/net/transport/http.ts': [
    'artifacts.ts',
    'client.ts',
    'identity/vault.ts',
    'kept-states.ts',
    'plan.ts',
    'transfer.ts',
  ],
  'platform/net/binary/fetch.ts': ['binary/download.ts'],
};

/** Ways to load a module without its name, or to access files through another program. */
const hidden: Record<string, string[]> = {
  child_process: ['terraform/launch.ts', 'terraform/process.ts'],
  createRequire: [],
  getBuiltinModule: [],
  'process.binding': [],
  worker_threads: [],
  'node:sqlite': [],
  'import(variable)': ['fetch-program.mjs'],
};

const functions = join(import.meta.dirname, '../../../functions');
const folder = join(functions, 'runner/program');
const files = globSync('**/*.{ts,mjs}', { cwd: folder });
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');
const opensFiles = (text: string): boolean =>
  /\bfrom\s*['"](node:)?fs(\/promises)?['"]|\b(import|require|getBuiltinModule)\(\s*['"`](node:)?fs/.test(text);

it('only listed files of the runner use the file system without the door', () => {
  const using = files.filter((file) => opensFiles(textOf(file)));
  expect(using.toSorted()).toEqual(Object.values(allowed).flat().toSorted());
});

it('only listed files of the runner call code outside of it that uses the file system', () => {
  const using = files.flatMap((file) =>
    [...textOf(file).matchAll(/(?:\bfrom\s+|\bimport\()['"]#([^'"]+)['"]/g)]
      .map(([, target = '']) => target)
      .filter(
        (target) => !target.startsWith('runner/program/') && opensFiles(readFileSync(join(functions, target), 'utf8')),
      )
      .map((target) => [target, file]),
  );
  const named = Object.entries(throughOthers).flatMap(([target, users]) => users.map((file) => [target, file]));
  expect(using.toSorted()).toEqual(named.toSorted());
});

it.each(Object.entries(hidden))('only listed files of the runner use %s', (how, users) => {
  const pattern = how === 'import(variable)' ? /\bimport\((?!\s*['"])/ : new RegExp(how.replaceAll('.', '\\.'));
  expect(files.filter((file) => pattern.test(textOf(file))).toSorted()).toEqual(users.toSorted());
});
