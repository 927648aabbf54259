import { expect, it } from 'vitest';
import { type Building, buildMissing } from './build.ts';
import { programs, testsOf } from './programs.ts';

const built = async (given: Partial<Building>): Promise<{ names: string[]; lines: string[] }> => {
  const lines: string[] = [];
  const names = await buildMissing({
    programs: [],
    hasGo: true,
    limitMs: 60_000,
    say: (line) => lines.push(line),
    ...given,
  });
  return { names, lines };
};
const program = (name: string, provide: Building['programs'][number]['provide'], there = false) => ({
  name,
  isAtHand: () => there,
  provide,
});
const unexpected = () => Promise.reject(new Error('built'));

it('the build makes missing programs', async () => {
  const programs = [program('one', unexpected, true), program('two', async () => '/two')];
  expect(await built({ programs })).toEqual({ names: ['two'], lines: ['two: built in 0 s'] });
});

it('the build makes nothing if no program is missing', async () => {
  const programs = [program('one', unexpected, true), program('two', unexpected, true)];
  expect(await built({ programs })).toEqual({ names: [], lines: ['one and two: kept from before'] });
});

it('the build prints one line of skipped programs without Go', async () => {
  const programs = [program('one', unexpected), program('two', unexpected)];
  expect(await built({ programs, hasGo: false })).toEqual({
    names: [],
    lines: ['SKIPPED: tests with one and two: there is no Go to build it with'],
  });
});

it('the build skips a program that fails, and makes the next', async () => {
  const failure = Object.assign(new Error('Command failed'), { stderr: 'go: downloading x\ngo: x: 404 Not Found\n' });
  const programs = [program('one', () => Promise.reject(failure)), program('two', async () => '/two')];
  expect(await built({ programs })).toEqual({
    names: ['two'],
    lines: ['SKIPPED: tests with one: go: x: 404 Not Found', 'two: built in 0 s'],
  });
});

it('the build stops at its time limit', async () => {
  const never = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const programs = [program('one', never), program('two', never)];
  const { names, lines } = await built({ programs, limitMs: 60 });
  expect([names, lines]).toEqual([
    [],
    ['one', 'two'].map((name) => `SKIPPED: tests with ${name}: it was not built within 0.001 minutes`),
  ]);
});

it('each program has tests', () => {
  const files = Object.fromEntries(programs.map((one) => [one.name, testsOf(one)]));
  expect(files.coder).toContain('test/e2e/environments-session.test.ts');
  expect(files.gitea).toContain('test/version-control/e2e/gitea.test.ts');
});
