import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { CommandError, exit } from './exit.ts';

/** Results go to standard output, messages to standard error. */
export const print = (text: string): undefined => {
  process.stdout.write(`${text}\n`);
};
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

export const printJson = (document: unknown): undefined => print(JSON.stringify(document, null, 2));

/** Input and output are terminals, so that a user can answer. */
export const isAttended = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Idle time before a prompt is shown, so that earlier typing does not answer it. */
const quietMs = 400;
const interruptKey = 0x03;

/** Discards keys typed before the question was on screen. @throws {CommandError} for Ctrl-C */
const forgetTyped = async (): Promise<void> => {
  const { stdin } = process;
  let interrupted = false;
  stdin.setRawMode?.(true);
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stdin.off('data', onData).off('end', end).pause();
      resolve();
    };
    let timer = setTimeout(end, quietMs);
    const onData = (bytes: Buffer | string) => {
      interrupted ||= Buffer.from(bytes).includes(interruptKey);
      clearTimeout(timer);
      timer = setTimeout(end, interrupted ? 0 : quietMs);
    };
    stdin.on('data', onData).on('end', end).resume();
  });
  stdin.setRawMode?.(false);
  if (interrupted) throw new CommandError('', exit.interrupted);
};

const readLine = async (question: string, output: NodeJS.WritableStream): Promise<string> => {
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const closed = new AbortController();
  // Ctrl-C and the end of input are not answers.
  for (const end of ['SIGINT', 'close']) lines.once(end, () => closed.abort());
  try {
    return (await lines.question(question, { signal: closed.signal })).trim();
  } catch {
    throw new CommandError('', exit.interrupted);
  } finally {
    lines.close();
  }
};

/** @throws {CommandError} for Ctrl-C */
export const ask = async (question: string): Promise<string> => {
  await forgetTyped();
  return readLine(question, process.stderr);
};

/** Without echo. */
const askSecret = async (question: string): Promise<string> => {
  await forgetTyped();
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await readLine('', nowhere);
  process.stderr.write('\n');
  return answer;
};

/** All of standard input, unchanged. */
export const readInput = (): Promise<Buffer> => buffer(process.stdin);

/** One secret, typed without echo or piped in; a newline at its end is removed. */
export const readSecret = async (question: string): Promise<string> =>
  isAttended() ? askSecret(question) : (await readInput()).toString('utf8').replace(/\r?\n$/, '');

const widthOf = (text: string): number => [...stripVTControlCharacters(text)].length;

/** Pads each column to its widest cell, except the last one. */
export const columns = (rows: string[][]): string[] => {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - widthOf(cell))))
      .join('  ')
      .trimEnd(),
  );
};
