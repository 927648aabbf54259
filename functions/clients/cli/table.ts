import { stripVTControlCharacters } from 'node:util';
import { csvCell } from '#platform/formats/csv.ts';
import type { Call, Option } from './arguments.ts';
import { wrongUsage } from './exit.ts';
import { dim } from './paint.ts';
import { columns, print, printJson } from './terminal.ts';

/** Prints lists in the requested format. */

const formats = ['table', 'json', 'csv'] as const;

/** The option of commands that print a list. */
export const ofList: Record<string, Option> = {
  output: {
    about: 'table (with a heading), json or csv; default: columns for people',
    value: 'format',
    choices: formats,
  },
};

type Format = (typeof formats)[number] | 'columns';

/** @throws {CommandError} for an unknown format */
const formatOf = (call: Call): Format => {
  const format = call.text('output');
  if (call.flag('json')) {
    if (format !== undefined && format !== 'json') {
      throw wrongUsage(`--json and --output ${format} cannot be combined. Give one of them.`);
    }
    return 'json';
  }
  if (format === undefined) return 'columns';
  const known = formats.find((candidate) => candidate === format);
  if (!known) throw wrongUsage(`--output ${format}: give one of ${formats.join(', ')}`);
  return known;
};

export interface Listing<T> {
  /** Names of the columns, in the order of the cells. */
  headings: string[];
  entries: T[];
  /** For people: with colours, times relative to now. */
  row(entry: T): string[];
  /** Unshortened values for programs, where they differ from the row. */
  values?(entry: T): string[];
  /** The document for --json. */
  json: unknown;
  /** Printed when the list is empty. */
  none: string;
}

/** The number of lines of a text of several, such as a certificate or a key; undefined for others. */
export const linesOf = (text: string): string | undefined => {
  const lines = text.trimEnd().split('\n').length;
  return lines > 1 ? dim(`(${lines} lines)`) : undefined;
};

/** Prints a list in the format of `--output`. */
export const printList = <T>(call: Call, { headings, entries, row, values, json, none }: Listing<T>): undefined => {
  const format = formatOf(call);
  if (format === 'json') return printJson(json);
  if (format === 'csv') {
    const lines = [headings, ...entries.map(values ?? row)];
    return print(
      lines
        .map((cells) => headings.map((_, i) => csvCell(stripVTControlCharacters(cells[i] ?? ''))).join(','))
        .join('\n'),
    );
  }
  const rows = entries.map((entry) => row(entry).map((cell) => linesOf(cell) ?? cell));
  const { isTTY, columns: width } = process.stdout;
  const lines = (cells: string[][]) => columns(cells, isTTY ? width : undefined).join('\n');
  if (format === 'table') return print(lines([headings.map((text) => text.toUpperCase()), ...rows]));
  return print(entries.length ? lines(rows) : none);
};
