/**
 * Semantic versions (https://semver.org), with what the platform needs of them: check and compare. The npm package brings
 * ranges and loose versions along, 9 KB in each bundle.
 */

interface SemanticVersion {
  /** Major, minor, patch. */
  core: string[];
  prerelease: string[];
  build: string[];
}

const maxLength = 256;

const number = '0|[1-9]\\d*';
const identifier = `(?:${number}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const pattern = new RegExp(
  `^v?((?:${number})\\.(?:${number})\\.(?:${number}))(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?$`,
);

const parse = (text: string): SemanticVersion | undefined => {
  const match = text.length <= maxLength ? pattern.exec(text) : null;
  if (!match) return undefined;
  const [core = [], prerelease = [], build = []] = match.slice(1).map((part: string | undefined) => part?.split('.'));
  return core.some((part) => Number(part) > Number.MAX_SAFE_INTEGER) ? undefined : { core, prerelease, build };
};

/** `1.2.0`, `v1.2.0-beta.1` or `1.2.0+build.7`, of at most 256 characters. */
export const isSemanticVersion = (text: string): boolean => parse(text) !== undefined;

export const isPrerelease = (text: string): boolean => Boolean(parse(text)?.prerelease.length);

const isNumeric = (text: string): boolean => /^\d+$/.test(text);

/** Numbers by size and before words; those have no leading zeros. */
const compareIdentifiers = (a: string, b: string): number => {
  if (a === b) return 0;
  if (isNumeric(a) !== isNumeric(b)) return isNumeric(a) ? -1 : 1;
  if (isNumeric(a) && a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
};

/** A list that continues another one comes after it. */
const compareLists = (a: string[], b: string[]): number => {
  for (const [i, one] of a.entries()) {
    const other = b[i];
    const order = other === undefined ? 1 : compareIdentifiers(one, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
};

const parsed = (text: string): SemanticVersion => {
  const version = parse(text);
  if (!version) throw new Error(`"${text}" is not a semantic version`);
  return version;
};

/**
 * By precedence: negative when the first is older. Build metadata does not count.
 * @throws {Error} for what is no semantic version
 */
export const compareVersions = (first: string, second: string): number => {
  const [a, b] = [parsed(first), parsed(second)];
  const order = compareLists(a.core, b.core);
  if (order !== 0) return order;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  return compareLists(a.prerelease, b.prerelease);
};

/** By precedence, then by build metadata, so that the order of any versions is fixed. @throws {Error} as above */
export const compareBuilds = (first: string, second: string): number =>
  compareVersions(first, second) || compareLists(parsed(first).build, parsed(second).build);
