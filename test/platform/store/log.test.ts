import { expect, it, vi } from 'vitest';
import { logError, logWarning } from '#platform/store/log.ts';

const logged = (log: () => void): string => {
  const lines: string[] = [];
  const spies = (['error', 'warn'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((line: string) => void lines.push(line)),
  );
  log();
  for (const spy of spies) spy.mockRestore();
  return lines.join('\n');
};

it.each([
  `ghp_${'a'.repeat(36)}`,
  `github_pat_${'a'.repeat(22)}_${'b'.repeat(59)}`,
  `glpat-${'x'.repeat(20)}`,
  `gto_${'y'.repeat(40)}`,
])('log entries contain no token of a forge that an error repeats: %s', (token) => {
  const error = new Error(`the server said: ${token}`, { cause: new Error(`Bearer ${'z'.repeat(40)}`) });
  const line = logged(() => logError('failed', error, { url: `https://x:${token}@forge.example` }));
  expect(line).not.toContain(token);
  expect(line).not.toContain('zzzz');
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    message: 'failed',
    url: expect.stringContaining('(token)'),
  });
});

it('log entries keep other words', () => {
  const line = logged(() => logWarning('repaired', { item: 'RUN#run-abc', note: 'Bearer token missing' }));
  expect(JSON.parse(line)).toEqual({
    timestamp: expect.stringMatching(/Z$/),
    level: 'warn',
    message: 'repaired',
    item: 'RUN#run-abc',
    note: 'Bearer token missing',
  });
});
