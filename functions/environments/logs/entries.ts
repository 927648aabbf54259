import { stripAnsi } from '#platform/text/ansi.ts';
import { readable } from '#platform/text/terraform-json.ts';
import { ETX, readLog, STX } from '#resources/runs/logs.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isPhaseFinal } from '#run/status.ts';

/**
 * Logs of jobs: stages, each with a marker and Terraform's output. An entry's id is derived from its position, so
 * that ids ascend and are the same for every reader.
 */

export interface Entry {
  id: number;
  created_at: string;
  log_source: 'provisioner_daemon' | 'provisioner';
  log_level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  stage: string;
  output: string;
}

/** A part of a log: a stage's marker with lines of the platform, or a phase of a run. */
export type Part =
  | { stage: string; at: string; lines?: { level: Entry['log_level']; text: string }[] }
  | { stage: string; run: Run; phase: PhaseName };

export interface Cursor {
  part: number;
  /** Position in the phase's log, in bytes. */
  offset: number;
}

export const start: Cursor = { part: 0, offset: 0 };

/** More than the maximum size of a log in bytes (runner/api/job.ts). */
const partSize = 1e9;
const pieceBytes = 256 * 1024;
/** Clients read at most 32 KB at once, as JSON. */
const maxOutput = 8000;

/** Index of the part that contains the entry with this id, computed without reading earlier parts. */
export const partOf = (id: number): number => Math.max(0, Math.floor(id / partSize) - 1);

const entryAt = (part: number, n: number, entry: Omit<Entry, 'id'>): Entry => ({
  id: (part + 1) * partSize + n,
  ...entry,
});

const piece = new RegExp(`.{1,${maxOutput}}`, 'gs');

const pieces = (text: string): string[] => text.match(piece) ?? [''];

interface Message {
  /** Present in Terraform's structured output; absent in its debug log. */
  type?: string;
  '@level'?: string;
  '@timestamp'?: string;
}

const messageIn = (line: string): Message => {
  if (!line.startsWith('{"@')) return {};
  try {
    return JSON.parse(line) as Message;
  } catch {
    return {};
  }
};

/** Undefined for lines that are left out: the finest of Terraform's debug log. */
const levelOf = ({ type, '@level': level }: Message): Entry['log_level'] | undefined => {
  if (level === 'warn' || level === 'error') return level;
  if (level === undefined || type !== undefined) return 'info';
  return level === 'trace' ? undefined : 'debug';
};

/** A line of a phase's log as one or more entries. */
const entriesOf = (
  line: string,
  phase: PhaseName,
  otherwise: string,
): Pick<Entry, 'created_at' | 'log_level' | 'output'>[] => {
  const message = messageIn(line);
  const log_level = levelOf(message);
  if (!log_level) return [];
  const time = Date.parse(message['@timestamp'] ?? '');
  const created_at = Number.isNaN(time) ? otherwise : new Date(time).toISOString();
  return readable(line, phase)
    .map((text) => stripAnsi(text).trimEnd())
    .filter((text) => text !== '' && text !== '╷' && text !== '╵')
    .flatMap((text) => pieces(text.replace(/^│ ?/, '')))
    .map((output) => ({ created_at, log_level, output }));
};

const startOf = (run: Run, phase: PhaseName): string => run[phase].statusTimestamps['started-at'] ?? run.createdAt;

const framing = new RegExp(`[${String.fromCharCode(STX, ETX)}]|\\r?\\n$`, 'g');

const unframed = (line: string): string => line.replaceAll(framing, '');

interface Read {
  entries: Entry[];
  cursor: Cursor;
}

const readFixed = (index: number, part: Extract<Part, { at: string }>): Read => {
  const common = { created_at: part.at, stage: part.stage, log_source: 'provisioner_daemon' as const };
  const entries = [
    entryAt(index, 0, { ...common, log_level: 'info', output: '' }),
    ...(part.lines ?? []).map(({ level, text }, n) =>
      entryAt(index, n + 1, { ...common, log_level: level, output: text }),
    ),
  ];
  return { entries, cursor: { part: index + 1, offset: 0 } };
};

const readPhase = async (
  index: number,
  { stage, run, phase }: Extract<Part, { run: Run }>,
  offset: number,
  consistent: boolean,
): Promise<Read> => {
  const { status } = run[phase];
  const isFinal = isPhaseFinal(status);
  const next = { part: index + 1, offset: 0 };
  if (status === 'unreachable') return { entries: [], cursor: next };
  const bytes = await readLog(run, phase, offset, pieceBytes, consistent);
  const ended = bytes.at(-1) === ETX || (isFinal && bytes.length === 0);
  // An incomplete line is read again.
  const whole = ended ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
  const isStuck = whole === 0 && bytes.length === pieceBytes;
  const used = isStuck ? bytes.length : whole;
  const at = startOf(run, phase);
  const entries: Entry[] = [];
  const marker = {
    created_at: at,
    stage,
    log_source: 'provisioner_daemon' as const,
    log_level: 'info' as const,
    output: '',
  };
  // The marker comes with the first complete line, or at the end; otherwise the next read would send it again.
  if (offset === 0 && (used > 0 || ended)) entries.push(entryAt(index, 0, marker));
  for (let from = 0; from < used; ) {
    const newline = bytes.indexOf(0x0a, from);
    const to = newline < 0 ? used : newline + 1;
    const line = unframed(bytes.toString('utf8', from, to));
    for (const [n, entry] of entriesOf(line, phase, at).entries())
      entries.push(entryAt(index, offset + from + n + 1, { ...entry, stage, log_source: 'provisioner' }));
    from = to;
  }
  return { entries, cursor: ended ? next : { part: index, offset: offset + used } };
};

/** Read at once, so that a long log does not fill the memory. */
const maxEntries = 5000;

export const isSame = (a: Cursor, b: Cursor): boolean => a.part === b.part && a.offset === b.offset;

/**
 * Entries from the cursor on, up to the first incomplete part, or some of a long log.
 * @param consistent for readers who do not ask again (resources/runs/logs.ts)
 * @returns `isOver`: all parts are complete
 */
export const readEntries = async (
  parts: Part[],
  from: Cursor,
  consistent = false,
): Promise<Read & { isOver: boolean }> => {
  const entries: Entry[] = [];
  let cursor = from;
  for (let part = parts[cursor.part]; part && entries.length <= maxEntries; part = parts[cursor.part]) {
    const read =
      'run' in part ? await readPhase(cursor.part, part, cursor.offset, consistent) : readFixed(cursor.part, part);
    if (isSame(read.cursor, cursor)) break;
    entries.push(...read.entries);
    cursor = read.cursor;
  }
  return { entries, cursor, isOver: cursor.part >= parts.length };
};
