import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { CommandError, exit } from './exit.ts';

/** What is asked for goes to standard output; what is said about it, to standard error. */
export const print = (text: string): undefined => {
  process.stdout.write(`${text}\n`);
};
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

export const printJson = (document: unknown): undefined => print(JSON.stringify(document, null, 2));

/** Somebody sits there who can be asked. */
export const isAttended = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** So long nobody types before a question is put. */
const quietMs = 400;
const interruptKey = 0x03;

/** What was typed before a question was on screen is no answer to it. @throws {CommandError} when it is Ctrl-C */
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
  const gone = new AbortController();
  // Neither Ctrl-C nor the end of what is typed answers a question.
  for (const end of ['SIGINT', 'close']) lines.once(end, () => gone.abort());
  try {
    return (await lines.question(question, { signal: gone.signal })).trim();
  } catch {
    throw new CommandError('', exit.interrupted);
  } finally {
    lines.close();
  }
};

/** @throws {CommandError} when Ctrl-C is the answer */
export const ask = async (question: string): Promise<string> => {
  await forgetTyped();
  return readLine(question, process.stderr);
};

/** Without showing what is typed. */
const askSecret = async (question: string): Promise<string> => {
  await forgetTyped();
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await readLine('', nowhere);
  process.stderr.write('\n');
  return answer;
};

/** All that standard input has, as it is. */
export const readInput = (): Promise<Buffer> => buffer(process.stdin);

/** One secret: typed unseen, or piped in; without the newline that `echo` adds. */
export const readSecret = async (question: string): Promise<string> =>
  isAttended() ? askSecret(question) : (await readInput()).toString('utf8').replace(/\r?\n$/, '');

const widthOf = (text: string): number => [...stripVTControlCharacters(text)].length;

/** Columns as wide as what is in them; the last one as long as it is. */
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
