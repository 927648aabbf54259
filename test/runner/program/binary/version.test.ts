import { describe, expect, it } from 'vitest';
import { constraint, exactVersion, newest } from '#runner/program/binary/version.ts';

describe('a version constraint', () => {
  it.each([
    ['1.11.4', '1.11.4 !1.11.5 !1.11.4-rc1'],
    ['= 1.11.4', '1.11.4 !1.11.3'],
    ['v1.11.4', '1.11.4'],
    ['1.11', '1.11.0 !1.11.4'],
    ['!= 1.11.4', '1.11.3 !1.11.4'],
    ['>= 1.5', '1.5.0 1.11.4 2.0.0 !1.4.9 !1.6.0-rc1'],
    ['> 1.5, < 1.6', '1.5.1 !1.5.0 !1.6.0'],
    ['<= 1.5.7', '1.5.7 1.0.0 !1.5.8'],
    ['~> 1.5', '1.5.0 1.11.4 !2.0.0 !1.4.0'],
    ['~>1.5.2', '1.5.2 1.5.9 !1.6.0 !1.5.1'],
    ['~> 1', '1.0.0 2.5.0 !0.15.5'],
    ['~> 1.10.0', '1.10.3 !1.1.0 !1.100.0'],
    ['~> 1.12.0-beta1', '1.12.0-beta2 !1.12.0 !1.12.0-alpha1'],
    ['>= 1.12.0-beta1', '1.12.0-rc1 1.12.0 1.13.0 !1.13.0-rc1'],
    ['latest', '1.11.4 !1.12.0-rc1'],
  ])('matches the right versions: %s', (text, versions) => {
    const satisfies = constraint(text);
    for (const version of versions.split(' ')) {
      const not = version.startsWith('!');
      expect(`${version} ${satisfies(version.replace('!', ''))}`).toBe(`${version} ${!not}`);
    }
  });

  it.each(['', 'newest', '~> x', '>= 1.0 < 2', '1.2.3.4', '=> 1'])('is rejected if it is %j', (text) => {
    expect(() => constraint(text)).toThrow('is not a version constraint');
  });
});

it('exact versions are distinguished from constraints', () => {
  expect(['1.11.4', '= 1.11.4', 'v1.12.0-rc1', '1.11', '~> 1.11.4', 'latest'].map(exactVersion)).toEqual([
    '1.11.4',
    '1.11.4',
    '1.12.0-rc1',
    undefined,
    undefined,
    undefined,
  ]);
});

it('the newest version is chosen numerically', () => {
  expect(newest(['1.9.8', '1.11.4', '1.11.10', '2.0.0', 'junk'], constraint('~> 1.9'))).toBe('1.11.10');
  expect(newest(['1.9.8'], constraint('>= 2'))).toBeUndefined();
});
