import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { gunzipSync } from 'node:zlib';

/**
 * Part of every function's bundle: maps stack traces to the sources. Node's own `--enable-source-maps` reads and parses
 * the map at each cold start, a third of its duration; this reads it when the first stack is read.
 */

declare const __filename: string;

type Prepare = (error: Error, frames: NodeJS.CallSite[]) => unknown;

/** Several bundles share a process on one machine. */
const shared = globalThis as { [key: symbol]: Map<string, SourceMap | undefined> | undefined };
const symbol = Symbol.for('stepform.stack-traces');

const read = (file: string): SourceMap | undefined => {
  try {
    return new SourceMap(JSON.parse(gunzipSync(readFileSync(`${file}.map.gz`)).toString()));
  } catch {
    return undefined;
  }
};

const describe = (frame: NodeJS.CallSite, maps: Map<string, SourceMap | undefined>): string => {
  const file = frame.getFileName() ?? '';
  if (!maps.has(file)) return `${frame}`;
  const map = maps.get(file) ?? read(file);
  maps.set(file, map);
  const entry = map?.findEntry((frame.getLineNumber() ?? 1) - 1, (frame.getColumnNumber() ?? 1) - 1);
  if (!entry || !('originalSource' in entry)) return `${frame}`;
  const source = entry.originalSource.replace(/^(\.\.\/)+/, '');
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
};

const install = (): Map<string, SourceMap | undefined> => {
  const maps = new Map<string, SourceMap | undefined>();
  const before = Error.prepareStackTrace as Prepare | undefined;
  const plain: Prepare = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${frame}`)].join('\n');
  Error.prepareStackTrace = (error, frames) => {
    const isOurs = frames.some((frame) => maps.has(frame.getFileName() ?? ''));
    if (!isOurs) return (before ?? plain)(error, frames);
    return [Error.prototype.toString.call(error), ...frames.map((frame) => `    at ${describe(frame, maps)}`)].join(
      '\n',
    );
  };
  return maps;
};

shared[symbol] ??= install();
shared[symbol]?.set(__filename, undefined);
