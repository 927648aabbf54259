import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

interface Source {
  file: string;
  /** An expression whose value is a function. */
  code: string;
  /** Added to the columns of the first line, so that stack traces and source maps stay true. */
  columnOffset: number;
  /** Where to keep what V8 has compiled of it; nothing is kept unless given. */
  compiled?: string;
}

/** V8 itself tells sources apart by their length only, and takes damaged data for good (v8::ScriptCompiler::CachedData). */
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

/** Whole or not at all. What cannot be written, on a full or read-only disk, is compiled again next time. */
const write = (file: string, content: Buffer): void => {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const beside = `${file}.${process.pid}`;
    writeFileSync(beside, content, { mode: 0o600 });
    renameSync(beside, file);
  } catch {}
};

/**
 * Evaluates code and hands its value to `use`. What V8 compiles until then is kept for the next process: all bundles take
 * 0.43 s of processor time with it, and 0.94 s without.
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
