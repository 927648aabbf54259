import compare from 'semver/functions/compare.js';
import parse from 'semver/functions/parse.js';

/**
 * Terraform's own version constraints (hashicorp/go-version), which differ from npm's: `~> 1.5` allows 1.9, `!=`
 * exists, a comma means "and", and a pre-release matches only a constraint that names a pre-release of the same
 * version.
 */

type Satisfies = (version: string) => boolean;

const form = /^(=|!=|>=|<=|>|<|~>)?\s*v?(\d+(?:\.\d+){0,2})(-[0-9A-Za-z.-]+)?$/;

const core = (version: string): string => version.replace(/[-+].*$/, '');

/** A pre-release satisfies only a constraint that names a pre-release of the same version. */
const comparable = (version: string, required: string): boolean =>
  !version.includes('-') || (required.includes('-') && core(version) === core(required));

const parsePart = (text: string): Satisfies => {
  const match = form.exec(text.trim());
  if (!match) throw new Error(`"${text.trim()}" is not a version constraint`);
  const [, operator = '=', numbers = '', prerelease = ''] = match;
  const parts = numbers.split('.');
  const wanted = `${[...parts, '0', '0'].slice(0, 3).join('.')}${prerelease}`;
  const order = (version: string) => compare(version, wanted);
  switch (operator) {
    case '=':
      return (version) => order(version) === 0;
    case '!=':
      return (version) => order(version) !== 0;
    case '>':
      return (version) => comparable(version, wanted) && order(version) > 0;
    case '>=':
      return (version) => comparable(version, wanted) && order(version) >= 0;
    case '<':
      return (version) => comparable(version, wanted) && order(version) < 0;
    case '<=':
      return (version) => comparable(version, wanted) && order(version) <= 0;
    default: {
      const fixed = parts.slice(0, -1).join('.');
      return (version) =>
        comparable(version, wanted) &&
        (!prerelease || version.includes('-')) &&
        order(version) >= 0 &&
        (fixed === '' || core(version).startsWith(`${fixed}.`));
    }
  }
};

/**
 * Whether a version satisfies the workspace's: an exact version, a constraint, or `latest` (any release).
 * @throws {Error} for other texts
 */
export const constraint = (text: string): Satisfies => {
  if (text.trim() === 'latest') return (version) => parse(version) !== null && !version.includes('-');
  const parts = text.split(',').map(parsePart);
  return (version) => parse(version) !== null && parts.every((satisfies) => satisfies(version));
};

export const exactVersion = (text: string): string | undefined =>
  /^=?\s*v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(text.trim())?.[1];

export const newest = (versions: Iterable<string>, satisfies: Satisfies): string | undefined =>
  [...versions].filter(satisfies).sort(compare).at(-1);
