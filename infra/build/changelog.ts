/** CHANGELOG.md, in the format of Keep a Changelog 1.1.0 (https://keepachangelog.com/en/1.1.0/). */

const unreleased = '## [Unreleased]';
const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
/** What a user reads in some two minutes. Details are in infra/changes. */
const maxWords = 450;

/** Body of a section. @param name `Unreleased` or a version */
export const sectionOf = (changelog: string, name: string): string | undefined => {
  const [, rest] = changelog.split(new RegExp(`^## \\[${name.replaceAll('.', '\\.')}\\].*$`, 'm'));
  return rest?.split(/^## \[/m)[0]?.trim();
};

/**
 * The section for the next release.
 * @throws {Error} if it is missing, empty, too long, or has a heading of another kind
 */
const nextSection = (changelog: string): string => {
  const section = sectionOf(changelog, 'Unreleased');
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "${unreleased}"`);
  if (!/^- /m.test(section))
    throw new Error('CHANGELOG.md has no change under "Unreleased": there is nothing to release');
  const headings = [...section.matchAll(/^### (.*)$/gm)].map(([, heading = '']) => heading);
  const unknown = headings.find((heading) => !kinds.includes(heading));
  if (unknown) throw new Error(`CHANGELOG.md: "${unknown}" is none of ${kinds.join(', ')}`);
  const words = section.split(/\s+/).length;
  if (words > maxWords)
    throw new Error(
      `The changes under "Unreleased" in CHANGELOG.md have ${words} words, more than ${maxWords}: move details to infra/changes/<version>.md`,
    );
  return section;
};

/**
 * The next version by the kinds of changes: patch for fixes only; otherwise minor, before 1.0.0 also for changes in bold,
 * which need a change on the user's side; those and removals are major from 1.0.0 on.
 * @param current `0.1.0`
 */
export const nextVersion = (current: string, changelog: string): string => {
  const section = nextSection(changelog);
  const [major = 0, minor = 0, patch = 0] = current.split('.').map(Number);
  const breaks = /^### Removed$/m.test(section) || /^- .*\*\*/m.test(section);
  if (breaks && major > 0) return `${major + 1}.0.0`;
  const isFix = !breaks && !/^### (Added|Changed|Deprecated)$/m.test(section);
  return isFix ? `${major}.${minor}.${patch + 1}` : `${major}.${minor + 1}.0`;
};

/** The changelog after a release. @param date `2026-01-31` */
export const released = (changelog: string, version: string, date: string): string => {
  nextSection(changelog);
  return changelog.replace(unreleased, `${unreleased}\n\n## [${version}] - ${date}`);
};
