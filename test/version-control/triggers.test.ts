import { describe, expect, it } from 'vitest';
import { isTriggeredBy, matchesPatterns, matchesTag } from '#version-control/triggers.ts';

describe('trigger patterns', () => {
  it.each([
    ['/**/*', ['a.tf', 'x/y/.z'], []],
    ['/module/**/*', ['module/a.tf', 'module/x/a.tf'], ['module2/a.tf']],
    ['/**/networking/*', ['networking/a', 'x/networking/a'], ['networking/x/a']],
    ['/submodule/*.???', ['submodule/a.abc'], ['submodule/a.tf', 'submodule/x/a.abc']],
    ['prefix-', ['prefix-'], ['prefix-a']],
    ['/a.b+(c)', ['a.b+(c)'], ['aXb+(c)', 'a.bb(c)']],
  ])('%s', (pattern, matching, others) => {
    expect(matching.filter((path) => !matchesPatterns([pattern], [path]))).toEqual([]);
    expect(others.filter((path) => matchesPatterns([pattern], [path]))).toEqual([]);
  });

  it('of 500 workspaces, 100 each, are matched against 300 files in a second', () => {
    const files = Array.from({ length: 300 }, (_, i) => `modules/${i}/network/main-${i}.tf`);
    const started = Date.now();
    for (let i = 0; i < 500; i++) {
      const patterns = Array.from({ length: 100 }, (_, n) => `/**/team-${i}-${n}/**/*.tf`);
      expect(matchesPatterns(patterns, files)).toBe(false);
    }
    console.log(`500 × 100 patterns × 300 files: ${Date.now() - started} ms`);
    // The aim is one second; a machine busy with other tests is slower.
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  it('take linear time for any pattern', () => {
    const started = Date.now();
    matchesPatterns([`${'**/'.repeat(100)}x`], [`${'a/'.repeat(2000)}y`]);
    matchesTag(`(a*)*${'a?'.repeat(50)}b`, 'a'.repeat(5000));
    expect(Date.now() - started).toBeLessThan(10_000);
  });
});

describe('changed files', () => {
  const settings = { fileTriggersEnabled: true, triggerPatterns: [], triggerPrefixes: [], workingDirectory: null };
  it.each([
    ['any file concerns a workspace without a filter', {}, ['x'], true],
    [
      'any file concerns a workspace without file triggers',
      { fileTriggersEnabled: false, workingDirectory: 'a' },
      ['b/x'],
      true,
    ],
    ['a working directory is a filter by itself', { workingDirectory: 'a' }, ['b/x'], false],
    ['the root as a working directory is no filter', { workingDirectory: './' }, [], true],
    ['the root as a working directory adds nothing', { workingDirectory: '.', triggerPrefixes: ['a'] }, ['b/x'], false],
    ['directories are compared by whole segments', { workingDirectory: 'mod' }, ['modules/a.tf'], false],
    ['directories are compared with or without slashes', { workingDirectory: 'a/' }, ['a/x'], true],
    [
      'prefixes count beside the working directory',
      { workingDirectory: 'a', triggerPrefixes: ['/lib'] },
      ['lib/x'],
      true,
    ],
    [
      'the working directory counts beside prefixes',
      { workingDirectory: 'a', triggerPrefixes: ['/lib'] },
      ['a/x'],
      true,
    ],
    [
      'patterns replace the working directory',
      { workingDirectory: 'a', triggerPatterns: ['/lib/**/*'] },
      ['a/x'],
      false,
    ],
    ['unknown changes concern every workspace', { workingDirectory: 'a' }, undefined, true],
    ['an empty change concerns no workspace with a filter', { workingDirectory: 'a' }, [], false],
  ])('%s', (_, change, paths, wanted) => {
    expect(isTriggeredBy({ ...settings, ...change } as never, paths)).toBe(wanted);
  });
});

it('tag expressions match anywhere in a tag', () => {
  expect([matchesTag('v\\d+', 'release-v12'), matchesTag('^v\\d+$', 'release-v12')]).toEqual([true, false]);
});
