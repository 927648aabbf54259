import type * as Program from './program.ts';

const { readFileSync, renameSync, writeFileSync } = process.getBuiltinModule('node:fs');
const { createRequire, getCompileCacheDir } = process.getBuiltinModule('node:module');
const { join } = process.getBuiltinModule('node:path');
const { Script, constants } = process.getBuiltinModule('node:vm');
const { crc32 } = process.getBuiltinModule('node:zlib');

/**
 * What `main.ts` imports as `program.ts` where the runner is bundled (infra/build/bundle.ts). Loads it with the bytecode of an earlier
 * run, where Node keeps such code (`NODE_COMPILE_CACHE`). Node itself keeps what is compiled before a file runs, which is a
 * tenth: V8 compiles a function when it is first called.
 */

const file = join(import.meta.dirname, 'program.js');
const source = readFileSync(file, 'utf8');

/** V8 itself compares only the lengths of sources. */
const compiledFile = (): string | undefined => {
  const folder = getCompileCacheDir();
  return folder && join(folder, `runner-${crc32(source).toString(16)}-${source.length}`);
};

const checksumBytes = 4;

/** Undefined unless it is whole: V8 does not check that. */
const read = (path: string): Buffer | undefined => {
  try {
    const content = readFileSync(path);
    const code = content.subarray(checksumBytes);
    return code.length > 0 && content.readUInt32LE() === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
};

const write = (path: string, code: Buffer): void => {
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(crc32(code));
  const scratch = `${path}.${process.pid}`;
  writeFileSync(scratch, Buffer.concat([checksum, code]), { mode: 0o600, flag: 'wx' });
  renameSync(scratch, path);
};

const cache = compiledFile();
const script = new Script(source, {
  filename: file,
  cachedData: cache ? read(cache) : undefined,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});

/** Keeps the code of all functions that were called, for later runs. */
const keep = (): void => {
  if (!cache || script.cachedDataRejected === false) return;
  try {
    write(cache, script.createCachedData());
  } catch {
    // They start as this one did.
  }
};

const program = { exports: {} as typeof Program };
script.runInThisContext()(program.exports, createRequire(file), program, file);

export const runTask = (): Promise<void> => program.exports.runTask(keep);
