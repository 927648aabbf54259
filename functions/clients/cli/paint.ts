import { styleText } from 'node:util';
import { stripAnsi } from '#platform/text/ansi.ts';

/** Colours where the terminal shows them (and NO_COLOR is not set). */
const style = (format: Parameters<typeof styleText>[0]) => (text: string) =>
  styleText(format, text, { stream: process.stdout });

export const bold = style('bold');
export const dim = style('dim');
export const green = style('green');
export const red = style('red');
export const yellow = style('yellow');

const reset = '\x1b[0m';
const colourful = bold('x') !== 'x';
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters to remove them
const colour = /(\x1b\[[\d;:]*m)/;

/**
 * An untrusted line, safe to print: keeps colours, where shown, and removes other control sequences, which could
 * move the cursor, rename the window or fill the clipboard.
 */
export const coloured = (line: string): string => {
  if (!colourful) return plain(line);
  const safe = line
    .split(colour)
    .map((part, i) => (i % 2 ? part : plain(part)))
    .join('');
  return safe.includes('\x1b') && !safe.endsWith(reset) ? safe + reset : safe;
};

/** Untrusted text of other users: a name, a message, a reason. */
export const plain = stripAnsi;
