import { mkdirSync, readFileSync, rmSync } from 'node:fs';
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
