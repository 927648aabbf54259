import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** The wings of functions/, the lowest first: each imports only from itself and those before it. */
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

/** What a file imports of functions/: types, modules on demand and bare imports, too. */
const importsOf = (file: string): string[] => {
  const text = readFileSync(join(root, file), 'utf8');
  const matches = text.matchAll(/(?:^(?:import|export)\s[^'";]*?from\s+|^import\s+|\bimport\()'([.#][^']+)'/gm);
  return [...matches].map(([, specifier = '']) => pathOf(file, specifier)).filter((path) => known.has(path));
};

const imports = files.flatMap((file) => importsOf(file).map((target) => [file, target] as const));
const shown = (pairs: (readonly [string, string])[]): string[] => pairs.map(([file, to]) => `${file} imports ${to}`);

it('has twelve wings, each with a place in the order', () => {
  expect([...new Set(files.map(wingOf))].sort()).toEqual([...wings].sort());
});

it('imports only from wings below', () => {
  expect(imports.length).toBeGreaterThan(5000);
  const upwards = imports.filter(([file, target]) => wings.indexOf(wingOf(target)) > wings.indexOf(wingOf(file)));
  expect(shown(upwards)).toEqual([]);
});

/** Nouns stand side by side in resources/; what orders them is the role of a file: records and documents know no routes. */
const isRoutes = (file: string): boolean => /(^|[/-])(routes|route|handler)\.ts$/.test(file);

it('imports routes of a resource only into routes', () => {
  const among = imports.filter(([file, target]) => wingOf(file) === 'resources' && wingOf(target) === 'resources');
  expect(shown(among.filter(([file, target]) => isRoutes(target) && !isRoutes(file)))).toEqual([]);
});

/** What is left once every file is taken away that imports none of the rest, or that none of the rest imports. */
const inCircles = (): string[] => {
  for (let left = imports; ; ) {
    const [importing, imported] = [new Set(left.map(([file]) => file)), new Set(left.map(([, target]) => target))];
    const next = left.filter(([file, target]) => imported.has(file) && importing.has(target));
    if (next.length === left.length) return [...importing].sort();
    left = next;
  }
};

it('has no files that import each other in a circle', () => {
  expect(inCircles()).toEqual([]);
});

it('has no file of more than 300 lines', () => {
  const linesOf = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').length - 1;
  expect(files.filter((file) => linesOf(file) > 300)).toEqual([]);
});
