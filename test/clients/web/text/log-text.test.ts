import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogText } from '#clients/web/text/log-text.ts';
import { ansi } from '#platform/text/ansi.ts';

const framed = (text: string): Uint8Array => Buffer.concat([Buffer.of(2), Buffer.from(text), Buffer.of(3)]);

const linesOf = (log: LogText): string[] => Array.from({ length: log.length }, (_, i) => log.bare(i));

const read = (bytes: Uint8Array, cuts: number[] = []): LogText => {
  const log = new LogText('plan');
  const points = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  points.slice(1).forEach((to, i) => {
    log.append(bytes.subarray(points[i], to));
  });
  return log;
};

describe('a growing log', () => {
  it('reads the same however it is split, even within characters and colors', () => {
    const text = 'Plan: \x1b[32m3 to add\x1b[0m\nÜber „alles“ 🚀\r\n\n\x1b[1m\x1b[31m│ Error\x1b[0m: no\nlast';
    const expected = ['Plan: 3 to add', 'Über „alles“ 🚀', '', '│ Error: no', 'last'];
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
        const log = read(framed(text), cuts);
        expect(linesOf(log)).toEqual(expected);
        expect(log.closed).toBe(true);
        expect(log.offset).toBe(framed(text).length);
      }),
    );
  });

  it('shows an unfinished last line, and completes it later', () => {
    const log = read(Buffer.from('\x02one\ntw'));
    expect(linesOf(log)).toEqual(['one', 'tw']);
    log.append(Buffer.from('o\nthree\n\x03'));
    expect(linesOf(log)).toEqual(['one', 'two', 'three']);
  });

  it('continues a color on the next lines', () => {
    const log = read(framed('\x1b[33mone\ntwo\x1b[0m\nthree'));
    expect(log.pieces(1)).toEqual([{ text: 'two', style: { colour: 3 } }]);
    expect(log.pieces(2)).toEqual([{ text: 'three', style: {} }]);
  });

  it('finds text ignoring case and colors', () => {
    const log = read(framed('an \x1b[31mErr\x1b[0mor here\nnothing\nERROR there'));
    expect(log.find('error')).toEqual([0, 2]);
    expect(log.find('')).toEqual([]);
  });

  it('paints errors of terraform init, and aims at the first one below their heading', () => {
    const heading = 'Error: Terraform encountered problems during initialisation, including problems';
    const log = read(framed(`${heading}\nError: Unclosed block\n`));
    expect(log.firstError).toBe(1);
    expect(log.bare(1)).toBe('Error: Unclosed block');
    expect(log.pieces(1)).toEqual([
      { text: 'Error: ', style: { colour: 1 } },
      { text: 'Unclosed block', style: { bold: true } },
    ]);
  });

  it('takes 100,000 lines without a noticeable wait', () => {
    const text = Array.from({ length: 100_000 }, (_, i) => `\x1b[1mterraform_data.x (local-exec):\x1b[0m line ${i}`);
    // Processor time, because other programs may run on this machine.
    const began = process.cpuUsage();
    const log = read(framed(text.join('\n')));
    expect(log.find('line 99999')).toEqual([99_999]);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(3_000);
  });
});

describe('a log that is read from its end', () => {
  /** Reads it from a place within: forwards, and backwards the bytes before, in turn. */
  const fromWithin = (bytes: Uint8Array, begin: number, cuts: number[], turns: boolean[]): LogText => {
    const log = new LogText('plan', begin);
    const points = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
    for (let turn = 0; log.offset < bytes.length || log.start > 0; turn++) {
      const after = Math.min(...points.filter((point) => point > log.offset));
      const before = Math.max(...points.filter((point) => point < log.start));
      const isForwards = log.start === 0 || (log.offset < bytes.length && (log.length === 0 || (turns[turn] ?? true)));
      if (isForwards) log.append(bytes.subarray(log.offset, after));
      else log.prepend(bytes.subarray(before, log.start));
    }
    return log;
  };
  const text = 'Plan: 3\nÜber „alles“ 🚀\r\n\n\x1b[31m│\x1b[0m Error: no\nlast';

  it('has the same lines however it is split, and their numbers once it is whole', () => {
    const bytes = framed(text);
    const expected = linesOf(read(bytes));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: bytes.length - 1 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.array(fc.boolean(), { maxLength: 12 }),
        (begin, cuts, turns) => {
          const log = fromWithin(bytes, begin, cuts, turns);
          expect(linesOf(log)).toEqual(expected);
          expect([log.closed, log.start, log.firstError]).toEqual([true, 0, 3]);
          expect([log.numberOf(0), log.indexOf(2), log.indexOf(-1)]).toEqual([1, 1, 4]);
        },
      ),
    );
  });

  it('counts lines from the end until then, once the end is known', () => {
    const bytes = framed('one\ntwo\nError: three\nfour');
    const log = new LogText('plan', bytes.length - 12);
    log.append(bytes.subarray(log.offset, -2));
    expect([linesOf(log), log.numberOf(0), log.indexOf(-1)]).toEqual([['fou'], undefined, undefined]);
    log.append(bytes.subarray(log.offset));
    expect([linesOf(log), log.numberOf(0), log.indexOf(-1), log.indexOf(-2), log.indexOf(1)]).toEqual([
      ['four'],
      -1,
      0,
      undefined,
      undefined,
    ]);
    expect([log.firstLineAt, log.added]).toEqual([bytes.length - 5, 0]);
    log.prepend(bytes.subarray(6, log.start));
    expect([linesOf(log), log.firstError, log.numberOf(0), log.added]).toEqual([['Error: three', 'four'], 0, -2, 1]);
  });
});

describe('Terraform’s JSON lines', () => {
  const log = (...messages: object[]) => linesOf(read(framed(messages.map((one) => JSON.stringify(one)).join('\n'))));

  it('are shown as their message', () => {
    expect(log({ '@level': 'info', '@message': 'Plan: 1 to add', type: 'change_summary' })).toEqual(['Plan: 1 to add']);
  });

  it('that are diagnostics are shown as in a terminal', () => {
    const lines = log({
      '@level': 'error',
      '@message': 'Error: Unsupported argument',
      type: 'diagnostic',
      diagnostic: {
        severity: 'error',
        summary: 'Unsupported argument',
        detail: 'An argument named "x" is not expected here.',
        range: { filename: 'main.tf', start: { line: 3 } },
        snippet: { code: '  x = 1', start_line: 3, context: 'resource "a" "b"' },
      },
    });
    expect(lines).toEqual([
      '╷',
      '│ Error: Unsupported argument',
      '│ ',
      '│   on main.tf line 3, in resource "a" "b"',
      '│     3:   x = 1',
      '│ ',
      '│ An argument named "x" is not expected here.',
      '╵',
    ]);
  });

  it('that only look like it are unchanged', () => {
    expect(linesOf(read(framed('{"@not json')))).toEqual(['{"@not json']);
  });
});

describe('colors', () => {
  const styles = (text: string) => ansi(text).pieces.map(({ style }) => style);

  it('include bright ones, and the nearest of 256 and of true colors', () => {
    expect(styles('\x1b[31ma')).toEqual([{ colour: 1 }]);
    expect(styles('\x1b[92ma')).toEqual([{ colour: 2 }]);
    expect(styles('\x1b[38;5;196ma')).toEqual([{ colour: 1 }]);
    expect(styles('\x1b[38;2;20;220;220ma')).toEqual([{ colour: 6 }]);
  });

  it('are removed from the text completely', () => {
    const text = ansi('\x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x1b[2K\x1b[1;31;42mx\x1b[m\x07').pieces;
    expect(text.map((piece) => piece.text).join('')).toBe('link x');
  });

  it('never lose text', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z<>&"' ]*$/)), fc.integer({ min: 0, max: 120 }), (words, code) => {
        const { pieces } = ansi(words.join(`\x1b[${code}m`));
        expect(pieces.map(({ text }) => text).join('')).toBe(words.join(''));
      }),
    );
  });
});
