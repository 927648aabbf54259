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

const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });

const readLine = async (question: string, isSecret: boolean): Promise<string> => {
  const { stdin, stderr } = process;
  const lines = createInterface({ input: stdin, output: isSecret ? nowhere : stderr, terminal: true });
  // From here on the terminal echoes nothing, not even an answer that is pasted at once.
  if (isSecret) stderr.write(question);
  const closed = new AbortController();
  // Ctrl-C and the end of input are not answers.
  for (const end of ['SIGINT', 'close']) lines.once(end, () => closed.abort());
  try {
    return (await lines.question(isSecret ? '' : question, { signal: closed.signal })).trim();
  } catch {
    throw new CommandError('', exit.interrupted);
  } finally {
    lines.close();
  }
};

/** @throws {CommandError} for Ctrl-C */
export const ask = async (question: string): Promise<string> => {
  await forgetTyped();
  return readLine(question, false);
};

/** Without echo. */
const askSecret = async (question: string): Promise<string> => {
  await forgetTyped();
  const answer = await readLine(question, true);
  process.stderr.write('\n');
  return answer;
};

/** All of standard input, unchanged. */
export const readInput = (): Promise<Buffer> => buffer(process.stdin);

/** One secret, typed without echo or piped in; a newline at its end is removed. */
export const readSecret = async (question: string): Promise<string> =>
  isAttended() ? askSecret(question) : (await readInput()).toString('utf8').replace(/\r?\n$/, '');

const widthOf = (text: string): number => [...stripVTControlCharacters(text)].length;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no width
const characters = /\x1b\[[\d;]*m|./gsu;

/** Cuts a text to a width in characters, with an ellipsis. Colours stay. */
export const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text;
  let left = width - 1;
  return (text.match(characters) ?? [])
    .map((character) => {
      if (character.startsWith('\x1b')) return character;
      left -= 1;
      return left >= 0 ? character : left === -1 ? '…' : '';
    })
    .join('');
};

const gap = '  ';
/** A column is not cut below this width. */
const readable = 12;

/** Narrows the widest columns until the row fits the terminal. */
const fitted = (widths: number[], total: number): number[] => {
  const fits = [...widths];
  for (
    let surplus = fits.reduce((sum, width) => sum + width + gap.length, -gap.length) - total;
    surplus > 0;
    surplus--
  ) {
    const widest = Math.max(...fits);
    if (widest <= readable) break;
    fits[fits.lastIndexOf(widest)] = widest - 1;
  }
  return fits;
};

/** Pads each column to its widest cell, except the last one. @param width of the terminal, where cells are cut to fit */
export const columns = (rows: string[][], width = Number.POSITIVE_INFINITY): string[] => {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
  }
  const fits = fitted(widths, width);
  return rows.map((row) =>
    row
      .map((cell, i) => {
        const text = cut(cell, fits[i] ?? 0);
        return text + ' '.repeat((fits[i] ?? 0) - widthOf(text));
      })
      .join(gap)
      .trimEnd(),
  );
};
