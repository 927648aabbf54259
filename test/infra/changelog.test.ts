import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nextVersion, released, sectionOf } from '#infra/build/changelog.ts';

const withChanges = (...lines: string[]): string =>
  ['# Changelog', '', '## [Unreleased]', '', ...lines, '', '## [0.1.0] - 2026-01-01', '', '- First.', ''].join('\n');

describe('a release', () => {
  it.each([
    ['0.1.0', ['### Fixed', '- A.'], '0.1.1'],
    ['0.1.9', ['### Security', '- A.'], '0.1.10'],
    ['0.1.3', ['### Added', '- A.'], '0.2.0'],
    ['0.1.3', ['### Fixed', '- **Set this.** A.'], '0.2.0'],
    ['1.2.3', ['### Added', '- A.'], '1.3.0'],
    ['1.2.3', ['### Removed', '- A.'], '2.0.0'],
    ['1.2.3', ['### Changed', '- **Set this.** A.'], '2.0.0'],
  ])('after %s of %j is %s', (current, lines, next) => {
    expect(nextVersion(current, withChanges(...lines))).toBe(next);
  });

  it('dates the section and leaves an empty one', () => {
    const after = released(withChanges('### Added', '- A.'), '0.2.0', '2026-02-03');
    expect(after).toContain('## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n### Added\n- A.\n\n## [0.1.0]');
    expect(sectionOf(after, '0.2.0')).toBe('### Added\n- A.');
    expect(sectionOf(after, '0.1.0')).toBe('- First.');
    expect(() => nextVersion('0.2.0', after)).toThrow('nothing to release');
  });

  it.each([
    [['### New', '- A.'], '"New" is none of Added, Changed'],
    [['### Added', `- ${'word '.repeat(500)}`], 'move details to infra/changes'],
  ])('of %j is refused', (lines, reason) => {
    expect(() => nextVersion('0.1.0', withChanges(...lines))).toThrow(reason);
  });

  it('is possible with the changelog as it is, or was with its newest version', () => {
    const changelog = readFileSync('CHANGELOG.md', 'utf8').replace(
      /## \[Unreleased\]\s+## \[[\d.]+\] - .*/,
      '## [Unreleased]',
    );
    expect(nextVersion('0.1.0', changelog)).toMatch(/^0\.\d+\.\d+$/);
  });
});
