import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** The wings of functions/, lowest first: each imports only from itself and from those before it. */
const wings = [
  'run',
  'platform',
  'api',
  'resources',
  'version-control',
  'removal',
  'lifecycle',
  'runner',
  'features',
  'public-api',
  'environments',
  'clients',
];

const root = join(import.meta.dirname, '..');
const files = globSync('functions/**/*.{ts,tsx}', { cwd: root }).sort();
const known = new Set(files);

const wingOf = (file: string): string => file.split('/')[1] ?? '';

/** `#wing/…` is a path from functions/ (package.json: imports). */
const pathOf = (file: string, specifier: string): string =>
  specifier.startsWith('#') ? `functions/${specifier.slice(1)}` : normalize(join(dirname(file), specifier));

/** All imports of a file from functions/, including types, dynamic and bare imports. */
const importsOf = (file: string): string[] => {
  const text = readFileSync(join(root, file), 'utf8');
  const matches = text.matchAll(/(?:^(?:import|export)\s[^'";]*?from\s+|^import\s+|\bimport\()'([.#][^']+)'/gm);
  return [...matches].map(([, specifier = '']) => pathOf(file, specifier)).filter((path) => known.has(path));
};

const imports = files.flatMap((file) => importsOf(file).map((target) => [file, target] as const));
const shown = (pairs: (readonly [string, string])[]): string[] => pairs.map(([file, to]) => `${file} imports ${to}`);

it('functions/ has twelve wings, each with a place in the order', () => {
  expect([...new Set(files.map(wingOf))].sort()).toEqual([...wings].sort());
});

it('a wing imports only from wings below it', () => {
  expect(imports.length).toBeGreaterThan(5000);
  const upwards = imports.filter(([file, target]) => wings.indexOf(wingOf(target)) > wings.indexOf(wingOf(file)));
  expect(shown(upwards)).toEqual([]);
});

/** Nouns are equal in resources/; the role of a file orders them: records and documents do not import routes. */
const isRoutes = (file: string): boolean => /(^|[/-])(routes|route|handler)\.ts$/.test(file);

it('only routes import routes of a resource', () => {
  const among = imports.filter(([file, target]) => wingOf(file) === 'resources' && wingOf(target) === 'resources');
  expect(shown(among.filter(([file, target]) => isRoutes(target) && !isRoutes(file)))).toEqual([]);
});

/**
 * Files in import cycles, and between two cycles: repeatedly removes files that import no remaining file, or that no
 * remaining file imports.
 */
const inCircles = (): string[] => {
  for (let left = imports; ; ) {
    const [importing, imported] = [new Set(left.map(([file]) => file)), new Set(left.map(([, target]) => target))];
    const next = left.filter(([file, target]) => imported.has(file) && importing.has(target));
    if (next.length === left.length) return [...importing].sort();
    left = next;
  }
};

it('no files import each other in a circle', () => {
  expect(inCircles()).toEqual([]);
});

it('no file has more than 300 lines', () => {
  const linesOf = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').length - 1;
  expect(files.filter((file) => linesOf(file) > 300)).toEqual([]);
});
