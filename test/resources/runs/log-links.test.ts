import { expect, it } from 'vitest';
import { logPath, opensLog } from '#resources/runs/log-links.ts';

const run = { id: 'run-aaaaaaaaaaaaaaaa', logSecret: 'secret' };
const hour = 3600_000;
const now = Date.parse('2026-01-10T12:00:00Z');
const capability = (path: string) => path.split('/').at(-1) as string;

it('a link opens one log of one run for the maximum duration of a phase', () => {
  const plan = capability(logPath(run, 'plan', now));
  expect(opensLog(run, 'plan', plan, now)).toBe(true);
  expect(opensLog(run, 'plan', plan, now + 25 * hour)).toBe(true);
  expect(opensLog(run, 'plan', plan, now + 50 * hour)).toBe(false);
  expect(opensLog(run, 'apply', plan, now)).toBe(false);
  expect(opensLog({ ...run, logSecret: 'another' }, 'plan', plan, now)).toBe(false);
});

it("a link expires after the organization's maximum duration of a phase", () => {
  const long = { ...run, timeLimits: { apply: 72 * 3600 } };
  const path = logPath(long, 'apply', now);
  expect(opensLog(long, 'apply', capability(path), now + 72 * hour)).toBe(true);
  expect(opensLog(long, 'apply', capability(path), now + 100 * hour)).toBe(false);
});

it.each(['secret', '', '1.', '99999999.x', `99999.${'A'.repeat(43)}`])('a log rejects the link %j', (capability) => {
  expect(opensLog(run, 'plan', capability, now)).toBe(false);
});

it('a link cannot be extended', () => {
  const [days, signature] = capability(logPath(run, 'plan', now)).split('.');
  expect(opensLog(run, 'plan', `${Number(days) + 1}.${signature}`, now)).toBe(false);
});

it('a link is stable across repeated reads of the run', () => {
  expect(logPath(run, 'plan', now + 60_000)).toBe(logPath(run, 'plan', now));
});
