import { describe, expect, it } from 'vitest';
import { LogFolds } from '#clients/web/text/log-folds.ts';
import { LogText } from '#clients/web/text/log-text.ts';

const logOf = (...lines: string[]): LogText => {
  const log = new LogText('plan');
  log.append(Buffer.from(`\x02${lines.join('\n')}\n`));
  return log;
};

/** Each row as `address (lines)`, or the line itself. */
const shown = (log: LogText, folds: LogFolds, open: Parameters<LogFolds['rows']>[0] = new Set()): string[] =>
  folds
    .rows(open)
    .map((row) => ('fold' in row ? `${row.fold.address} (${row.fold.lines.join(' ')})` : log.bare(row.line)));

describe('a log folded by resource', () => {
  it('groups the lines of each resource, even if interleaved', () => {
    const log = logOf(
      'Terraform v1.11.4',
      '\x1b[1maws_vpc.main: Creating...\x1b[0m',
      'module.a["x.y"].aws_subnet.b["k: v"]: Creating...',
      'aws_vpc.main (local-exec): hello: you',
      'Apply complete!',
      'aws_vpc.main: Creation complete after 2s [id=vpc-1]',
      'module.a["x.y"].aws_subnet.b["k: v"]: Still creating... [10s elapsed]',
    );
    expect(shown(log, new LogFolds(log))).toEqual([
      'Terraform v1.11.4',
      'aws_vpc.main (1 3 5)',
      'module.a["x.y"].aws_subnet.b["k: v"] (2 6)',
      'Apply complete!',
    ]);
  });

  it('folds each change of a plan with its lines', () => {
    const log = logOf(
      'Terraform will perform the following actions:',
      '',
      '  # aws_vpc.main will be created',
      '  # (config refers to values not yet known)',
      '  + resource "aws_vpc" "main" {',
      '      + tags = {',
      '          + a = "b: c"',
      '        }',
      '    }',
      '',
      '  # module.a.data.aws_ami.x[0] must be replaced',
      '-/+ resource "aws_ami" "x" {',
      '    }',
      '',
      'Plan: 1 to add',
    );
    expect(shown(log, new LogFolds(log))).toEqual([
      'Terraform will perform the following actions:',
      '',
      'aws_vpc.main (2 3 4 5 6 7 8)',
      '',
      'module.a.data.aws_ami.x[0] (10 11 12)',
      '',
      'Plan: 1 to add',
    ]);
  });

  it('does not fold similar and single lines', () => {
    const lines = ['http://example.com: no', 'Error: a.b', 'aws_vpc.main: Refreshing state...', 'see main.tf: it'];
    const log = logOf(...lines);
    expect(shown(log, new LogFolds(log))).toEqual(lines);
  });

  it('continues as the log grows, with the unfinished line last', () => {
    const log = logOf('a.b: Creating...', 'x');
    const folds = new LogFolds(log);
    expect(shown(log, folds)).toEqual(['a.b: Creating...', 'x']);
    log.append(Buffer.from('a.b: Creation comp'));
    expect(shown(log, folds)).toEqual(['a.b: Creating...', 'x', 'a.b: Creation comp']);
    log.append(Buffer.from('lete\n'));
    expect(shown(log, folds)).toEqual(['a.b (0 2)', 'x']);
  });

  it('shows the lines of an open group, and finds the row of each', () => {
    const log = logOf('a.b: Creating...', 'x', 'a.b: Creation complete');
    const folds = new LogFolds(log);
    folds.rows(new Set());
    const fold = folds.foldOf(2);
    expect(fold?.address).toBe('a.b');
    expect(folds.foldOf(1)).toBeUndefined();
    expect(shown(log, folds, new Set(fold ? [fold] : []))).toEqual([
      'a.b (0 2)',
      'a.b: Creating...',
      'a.b: Creation complete',
      'x',
    ]);
  });

  it('takes 100,000 lines without a noticeable wait', () => {
    const log = logOf(...Array.from({ length: 100_000 }, (_, i) => `aws_subnet.a[${i % 500}]: Still creating... ${i}`));
    // Processor time, because other programs may run on this machine.
    const began = process.cpuUsage();
    expect(new LogFolds(log).rows(new Set())).toHaveLength(500);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(3_000);
  });
});
