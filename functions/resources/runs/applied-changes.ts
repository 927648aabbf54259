import { stripVTControlCharacters } from 'node:util';
import { type AppliedChanges, ApplyProgress, type ProgressLine } from '#run/apply-progress.ts';
import type { Run } from '#run/run.ts';
import { readLog } from './logs.ts';

const pieceBytes = 1024 * 1024;

/** Completed and started changes, read from the log of an apply. Reads the whole log, 1 MiB at a time. */
export const appliedChanges = async (run: Run): Promise<AppliedChanges> => {
  const progress = new ApplyProgress();
  let rest = '';
  for (let offset = 0; ; ) {
    const bytes = await readLog(run, 'apply', offset, pieceBytes);
    const lines = (rest + bytes.toString('latin1')).split('\n');
    rest = bytes.length ? (lines.pop() ?? '') : '';
    for (const line of lines) read(progress, Buffer.from(line, 'latin1').toString('utf8'));
    if (bytes.length === 0) return progress.changes;
    offset += bytes.length;
  }
};

const read = (progress: ApplyProgress, line: string): void => {
  if (!line.startsWith('{')) {
    progress.readText(stripVTControlCharacters(line).trimEnd(), 0);
    return;
  }
  try {
    progress.readJson(JSON.parse(line) as ProgressLine, 0);
  } catch {
    // A truncated line, or output of another program.
  }
};
