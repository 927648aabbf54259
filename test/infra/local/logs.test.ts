import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { Logs } from '#infra/local/aws/logs/logs.ts';
import { temporaryFolder } from './support/functions.ts';

it('the platform reports once that logs cannot be written, and resumes when they can', async () => {
  const folder = temporaryFolder();
  const told: string[] = [];
  const logs = new Logs(folder, (line) => told.push(line));
  // A folder in place of the file fails like a full disk.
  const file = join(folder, 'platform.log');
  mkdirSync(file);
  logs.write('platform', 'lost\n');
  await vi.waitFor(() => expect(told).toEqual([expect.stringContaining(`Logs cannot be written to ${folder}`)]));
  logs.write('platform', 'lost too\n');
  await logs.close();
  expect(told).toHaveLength(1);
  rmSync(file, { recursive: true });
  logs.write('platform', 'kept\n');
  await logs.close();
  expect(readFileSync(file, 'utf8')).toBe('kept\n');
});

it('a log keeps its last two files of the maximum size while the platform runs', async () => {
  const folder = temporaryFolder();
  const logs = new Logs(folder, console.error, 1000);
  const file = join(folder, 'platform.log');
  const text = () => [`${file}.1`, file].map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')).join('');
  for (let n = 0; n < 60; n++) {
    logs.write('platform', `${n} ${'x'.repeat(96)}\n`);
    await vi.waitFor(() => expect(text()).toContain(`${n} x`), { interval: 1 });
  }
  await logs.close();
  const lines = text().trim().split('\n');
  const numbers = lines.map((line) => Number(line.split(' ')[0]));
  expect(numbers.at(-1)).toBe(59);
  expect(numbers).toEqual(Array.from(numbers, (_, n) => 60 - numbers.length + n));
  expect(numbers.length).toBeLessThan(30);
  expect(readdirSync(folder).length).toBeLessThan(3);
});

it('logs of runners are removed after a month', () => {
  const folder = temporaryFolder();
  const [old, recent] = ['runner-1.log', 'runner-2.log'].map((name) => join(folder, name)) as [string, string];
  for (const file of [old, recent]) writeFileSync(file, 'x');
  utimesSync(old, Date.now() / 1000, Date.now() / 1000 - 31 * 24 * 3600);
  new Logs(folder);
  expect([existsSync(old), existsSync(recent)]).toEqual([false, true]);
});
