import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

interface Source {
  file: string;
  /** An expression whose value is a function. */
  code: string;
  /** Offset of the first line's columns, so that stack traces and source maps stay correct. */
  columnOffset: number;
  /** File for V8's compiled code; none by default. */
  compiled?: string;
}

/** V8 itself identifies sources only by their length, and accepts damaged data (v8::ScriptCompiler::CachedData). */
const hashOf = (code: string, data: Buffer): Buffer => createHash('sha256').update(code).update(data).digest();
const hashBytes = 32;

const read = (file: string, code: string): Buffer | undefined => {
  try {
    const kept = readFileSync(file);
    const data = kept.subarray(hashBytes);
    return hashOf(code, data).equals(kept.subarray(0, hashBytes)) ? data : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Written atomically. If it cannot be written, because the disk is full or read-only, the code is compiled again next
 * time.
 */
const write = (file: string, content: Buffer): void => {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const beside = `${file}.${process.pid}`;
    writeFileSync(beside, content, { mode: 0o600 });
    renameSync(beside, file);
  } catch {}
};

/**
 * Evaluates code and passes its value to `use`. The code that V8 compiles until then is cached for the next process:
 * all bundles take 0.43 s of processor time with the cache, and 0.94 s without.
 */
export const evaluate = (
  { file, code, columnOffset, compiled }: Source,
  use: (value: (...values: unknown[]) => unknown) => void,
): void => {
  const cachedData = compiled === undefined ? undefined : read(compiled, code);
  const script = new Script(code, { filename: file, columnOffset, cachedData });
  use(script.runInThisContext());
  if (compiled === undefined || (cachedData && !script.cachedDataRejected)) return;
  const data = script.createCachedData();
  write(compiled, Buffer.concat([hashOf(code, data), data]));
};
