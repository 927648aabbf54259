import fc from 'fast-check';
import compare from 'semver/functions/compare.js';
import compareBuild from 'semver/functions/compare-build.js';
import parse from 'semver/functions/parse.js';
import { describe, expect, it } from 'vitest';
import { compareBuilds, compareVersions, isPrerelease, isSemanticVersion } from '../functions/semver.ts';

const number = fc.oneof(fc.nat(12).map(String), fc.constantFrom('00', '01', '9007199254740993', ''));
const identifier = fc.oneof(number, fc.constantFrom('alpha', 'beta', 'rc1', '0a', '-', 'A', '1-2', 'ä'));
const identifiers = (prefix: string) =>
  fc.oneof(
    fc.constant(''),
    fc.array(identifier, { minLength: 1, maxLength: 3 }).map((list) => `${prefix}${list.join('.')}`),
  );
const text = fc
  .tuple(fc.constantFrom('', '', '', 'v', '='), number, number, number, identifiers('-'), identifiers('+'))
  .map(
    ([prefix, major, minor, patch, prerelease, build]) => `${prefix}${major}.${minor}.${patch}${prerelease}${build}`,
  );
const version = text.filter((one) => parse(one) !== null);

describe('semantic versions', () => {
  it('accepts what the npm package accepts', () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(isSemanticVersion(one)).toBe(parse(one) !== null);
        expect(isPrerelease(one)).toBe(Boolean(parse(one)?.prerelease.length));
      }),
      { numRuns: 2000 },
    );
  });

  it('orders versions as the npm package does', () => {
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(compareVersions(a, b))).toBe(compare(a, b));
        expect(Math.sign(compareBuilds(a, b))).toBe(compareBuild(a, b));
      }),
      { numRuns: 2000 },
    );
  });

  it('orders the examples of semver.org', () => {
    const ordered =
      '1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0'.split(' ');
    expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
  });

  it('rejects versions of more than 256 characters, and comparing what is no version', () => {
    expect(isSemanticVersion(`1.0.0-${'a'.repeat(251)}`)).toBe(false);
    expect(() => compareVersions('1.0', '1.0.0')).toThrow('"1.0" is not a semantic version');
  });
});
