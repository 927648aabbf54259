import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Mask } from '#platform/formats/mask.ts';
import type { Heartbeat } from '#run/protocols/runner.ts';
import { PhaseLog } from '#runner/program/log.ts';
import { until } from './until.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'log-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

interface Sent {
  offset: number;
  bytes: Buffer;
}

const open = (options: { limitBytes?: number; secrets?: string[]; answer?: () => Promise<Heartbeat> } = {}) => {
  const sent: Sent[] = [];
  const beats: Heartbeat[] = [];
  const log = new PhaseLog(join(directory, 'log'), {
    limitBytes: options.limitBytes ?? 10_000_000,
    mask: new Mask(options.secrets ?? []),
    send: (offset, bytes) => {
      sent.push({ offset, bytes: Buffer.from(bytes) });
      return options.answer?.() ?? Promise.resolve({ signal: 'continue' });
    },
    heed: (beat) => beats.push(beat),
  });
  return { log, sent, beats, whole: () => Buffer.concat(sent.map(({ bytes }) => bytes)) };
};

describe('a log', () => {
  it('is sent in order, framed, and stored as sent', async () => {
    const { log, sent, whole } = open();
    const bytes = Buffer.from([0xc3, 0xa9, 0x00, 0xff, 0x0a, 0xe2, 0x82]);
    log.write(bytes);
    await until('the first piece', () => sent.length);
    log.write(Buffer.from([0xac]));
    await log.close();
    expect([...whole()]).toEqual([0x02, ...bytes, 0xac, 0x03]);
    expect(readFileSync(log.path).equals(whole())).toBe(true);
    expect(log.size).toBe(whole().length);
    let offset = 0;
    for (const piece of sent) {
      expect(piece.offset).toBe(offset);
      offset += piece.bytes.length;
    }
  });

  it('does not end for its readers if Terraform writes the end byte', async () => {
    const { log, whole } = open();
    log.write(Buffer.from('seen\x03'));
    log.write(Buffer.from('\x03hidden\n'));
    log.note('a note\x03');
    await log.close();
    expect(whole().toString('latin1')).toBe('\x02seen??hidden\na note?\n\x03');
  });

  it('sends each line without waiting for more', async () => {
    const { log, sent } = open();
    for (let i = 0; i < 5; i++) {
      log.write(Buffer.from(`line ${i}\n`));
      await until('it is sent', () => sent.at(-1)?.bytes.includes(`line ${i}`));
    }
    expect(sent).toHaveLength(5);
    await log.close();
  });

  it('sends its first lines together with the next ones', async () => {
    const { log, sent } = open();
    log.head('Terraform v1.0.0\n');
    log.write(Buffer.from('Initializing\n'));
    await until('the first piece', () => sent.length);
    expect(sent.map(({ bytes }) => bytes.toString())).toEqual(['\u0002Terraform v1.0.0\nInitializing\n']);
    await log.close();
  });

  it('sends its first lines alone if no others follow for a while', async () => {
    const { log, sent } = open();
    log.head('Terraform v1.0.0\n');
    await until('they are sent', () => sent.length);
    expect(sent[0]?.bytes.toString()).toBe('\u0002Terraform v1.0.0\n');
    await log.close();
  });

  it('stops sending when the whole log is stored', async () => {
    const { log, sent } = open();
    log.write(Buffer.from('first\n'));
    await until('the first piece', () => sent.length);
    log.write(Buffer.from('second\n'));
    log.end();
    expect(readFileSync(log.path, 'latin1')).toBe('\u0002first\nsecond\n\u0003');
    await log.close({ send: false });
    expect(sent.map(({ bytes }) => bytes.toString('latin1'))).toEqual(['\u0002first\n']);
  });

  it('waits for the request in flight when the whole log is stored', async () => {
    const answer = Promise.withResolvers<Heartbeat>();
    const { log, sent, beats } = open({ answer: () => answer.promise });
    log.write(Buffer.from('first\n'));
    await until('the first piece', () => sent.length);
    const closed = log.close({ send: false });
    answer.resolve({ signal: 'continue' });
    await closed;
    expect(beats).toHaveLength(1);
  });

  it('combines fast output into few pieces of at most 64 KiB', async () => {
    const { log, sent, whole } = open();
    const line = Buffer.from(`${'x'.repeat(99)}\n`);
    for (let i = 0; i < 3000; i++) log.write(line);
    await log.close();
    expect(whole().length).toBe(300_002);
    expect(sent.length).toBeLessThanOrEqual(7);
    expect(Math.max(...sent.map(({ bytes }) => bytes.length))).toBe(65_536);
  });

  it('waits for each response, and passes it on', async () => {
    let under = 0;
    let most = 0;
    const { log, beats } = open({
      answer: async () => {
        most = Math.max(most, ++under);
        await new Promise((resolve) => setImmediate(resolve));
        under--;
        return { signal: 'interrupt' };
      },
    });
    for (let i = 0; i < 20; i++) log.write(Buffer.alloc(30_000, 'y'));
    await log.close();
    expect(most).toBe(1);
    expect(beats[0]).toEqual({ signal: 'interrupt' });
  });

  it('is cut at the end of a line at its limit, says so, and keeps the end', async () => {
    const { log, whole } = open({ limitBytes: 1000 });
    for (let i = 0; i < 2000; i++) log.write(Buffer.from(`${String(i).padStart(99, 'z')}\n`));
    log.note('Apply complete!');
    await log.close();
    const text = whole().toString();
    expect([text[0], text.at(-1)]).toEqual(['\x02', '\x03']);
    const [before = '', after = ''] = text.split(/\(This log has reached its limit .* Terraform continues\.\)\n/);
    expect(before).toMatch(/z8\n\n$/);
    expect(after).toMatch(/^\nz+\d+\n.*z1999\nApply complete!\n.$/s);
    expect(after.length).toBeLessThanOrEqual(65_540);
  });

  it('keeps results and errors beyond its limit, up to a quarter more, however they arrive', async () => {
    const { log, whole } = open({ limitBytes: 4000 });
    const line = (type: string, n: number) =>
      `{"@level":"info","type":"${type}","n":"${String(n).padStart(60, '0')}"}\n`;
    for (let i = 0; i < 100; i++) log.write(Buffer.from(line('apply_progress', i)));
    const results = ['apply_complete', 'diagnostic', 'outputs'].map(line).join('');
    for (const part of results.match(/.{1,7}/gs) ?? []) log.write(Buffer.from(part));
    for (let i = 0; i < 100; i++) log.write(Buffer.from(line('apply_complete', i)));
    await log.close();
    const [, after = ''] = whole().toString().split('Terraform continues.)\n\n');
    expect(after.startsWith(results)).toBe(true);
    expect(after).not.toContain('apply_progress');
    expect(after.length).toBeLessThanOrEqual(1001);
  });

  it('masks sensitive values across pieces, also in the runner’s messages', async () => {
    const { log, whole } = open({ secrets: ['hunter2!'] });
    log.write(Buffer.from('a hunt'));
    log.write(Buffer.from('er2! b'));
    log.error('it was hunter2!');
    log.write(Buffer.from('c hunter'));
    await log.close();
    const text = whole().toString();
    expect(text).toContain('a (sensitive value) b');
    expect(text).toContain('it was (sensitive value)');
    expect(text).toContain('c hunter\u0003');
    expect(text).not.toContain('hunter2');
  });

  it('is closed and complete on disk even if it cannot be sent', async () => {
    const { log } = open({ answer: () => Promise.reject(new Error('unknown call')) });
    log.write(Buffer.from('kept'));
    await log.close();
    expect(readFileSync(log.path, 'latin1')).toBe('\u0002kept\u0003');
  });

  it('continues in memory if its file cannot be written, and is sent completely', async () => {
    rmSync(directory, { recursive: true });
    const { log, whole, sent } = open();
    log.write(Buffer.from('first\n'));
    await until('the first piece', () => sent.length);
    log.write(Buffer.from('second\n'));
    await log.close();
    expect(log.isOnDisk).toBe(false);
    expect(whole().toString('latin1')).toBe('\u0002first\nsecond\n\u0003');
  });
});
