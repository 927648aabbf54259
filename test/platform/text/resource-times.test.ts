import { describe, expect, it } from 'vitest';
import { LogText } from '#clients/web/text/log-text.ts';
import { slowest, tookMs } from '#platform/text/resource-times.ts';

const second = (n: number): string => new Date(Date.UTC(2030, 0, 1, 0, 0, n)).toISOString();

const event = (type: string, address: string, n: number, hook: object = {}): string =>
  JSON.stringify({
    '@level': 'info',
    '@message': `${address}: ${type}`,
    '@timestamp': second(n),
    type,
    hook: { resource: { addr: address }, ...hook },
  });

const create = { action: 'create' };

const read = (lines: string[], at?: number): LogText => {
  const log = new LogText('apply');
  log.append(Buffer.from(`\u0002${lines.join('\n')}\n`), at);
  return log;
};

describe('work on resources over time', () => {
  it('has start, end and line of each, and which failed or is in progress', () => {
    const { times } = read([
      'Terraform v1.11.4',
      event('apply_start', 'a.one', 0, create),
      event('apply_start', 'a.two', 1, create),
      event('apply_complete', 'a.one', 3, create),
      event('apply_errored', 'a.two', 4, create),
      event('apply_start', 'a.three', 5, { action: 'delete' }),
    ]);
    expect(times.spans.map(({ address, work, failed, line }) => [address, work, failed, line])).toEqual([
      ['a.one', 'create', false, 1],
      ['a.two', 'create', true, 2],
      ['a.three', 'delete', false, 5],
    ]);
    expect(times.spans.map((span) => tookMs(span, Date.parse(second(9))))).toEqual([3_000, 3_000, 4_000]);
    expect(times.latest).toBe(Date.parse(second(5)));
  });

  it('keeps the two halves of a replacement and a refresh apart', () => {
    const { times } = read([
      event('refresh_start', 'a.one', 0),
      event('refresh_complete', 'a.one', 1),
      event('apply_start', 'a.one', 2, { action: 'delete' }),
      event('apply_complete', 'a.one', 4, { action: 'delete' }),
      event('apply_start', 'a.one', 4, create),
      event('apply_complete', 'a.one', 9, create),
    ]);
    expect(times.spans.map((span) => [span.work, tookMs(span, 0)])).toEqual([
      ['refresh', 1_000],
      ['delete', 2_000],
      ['create', 5_000],
    ]);
  });

  it('names the slowest, and the dependency that each waited for last', () => {
    const { times } = read([
      event('apply_start', 'module.net["x"].a.vpc[0]', 0, create),
      event('apply_start', 'a.key', 0, create),
      event('apply_complete', 'a.key', 1, create),
      event('apply_complete', 'module.net["x"].a.vpc[0]', 5, create),
      event('apply_start', 'a.db', 5, create),
      event('apply_complete', 'a.db', 65, create),
    ]);
    const rows = slowest(times.spans, { 'a.db': ['a.key', 'module.net.a.vpc'] }, 0, 2);
    expect(rows.map(({ span, after }) => [span.address, after?.address])).toEqual([
      ['a.db', 'module.net["x"].a.vpc[0]'],
      ['module.net["x"].a.vpc[0]', undefined],
    ]);
  });
});

describe('times of lines', () => {
  it('are Terraform’s own, else the time of receipt, else unknown', () => {
    const log = read([event('apply_start', 'a.one', 7, create), 'text']);
    expect([log.at(0), log.at(1), log.hasTimes]).toEqual([Date.parse(second(7)), undefined, true]);
    log.append(Buffer.from('more text\n'), 42);
    expect(log.at(2)).toBe(42);
    expect(read(['text']).hasTimes).toBe(false);
  });

  it('an apply does not repeat its plan, and shows outputs and provisioners as in a terminal', () => {
    const log = read([
      event('planned_change', 'a.one', 0),
      event('provision_progress', 'a.one', 1, { provisioner: 'local-exec', output: 'hello\nthere' }),
      JSON.stringify({
        '@level': 'info',
        '@message': 'Outputs: 2',
        type: 'outputs',
        outputs: { host: { sensitive: false, value: 'db' }, key: { sensitive: true, value: 'x' } },
      }),
    ]);
    expect(Array.from({ length: log.length }, (_, i) => log.bare(i))).toEqual([
      'a.one (local-exec): hello',
      'a.one (local-exec): there',
      '',
      'Outputs:',
      '',
      'host = "db"',
      'key = <sensitive>',
    ]);
  });
});
