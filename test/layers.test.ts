import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** The folders of functions/, the lowest first: each imports only those before it. A file beside them counts as a folder. */
const order = [
  ['exact-json', 'run', 'mask', 'hcl', 'tfvars', 'marks', 'tar', 'tar-writer', 'csv', 'banner-text', 'environment'],
  ['protocols', 'store'],
  ['outbound', 'transport', 'binary', 'api'],
  [
    'people',
    'agent-pools',
    'forwarding',
    'ip-allowlists',
    'reserved-tag-keys',
    'projects',
    'workspaces',
    'audit',
    'sign-in',
    'variables',
    'access',
  ],
  [
    'ssh-keys',
    'organization-tags',
    'runs',
    'plan-exports',
    'configurations',
    'workload-identity',
    'policies',
    'costs',
    'run-tasks',
    'notifications',
    'registry',
    'provider-sets',
    'shared-providers',
    'change-requests',
    'health',
    'version-control',
  ],
  [
    'removal',
    'organizations',
    'orchestration',
    'states',
    'data-retention',
    'recoverable-items',
    'explorer',
    'recovery',
    'repair',
    'hidden-runs',
    'module-tests',
    'queries',
    'no-code',
    'lifecycle',
    'runner-api',
    'agents',
    'includes',
    'public-api',
  ],
  ['runner', 'agent', 'client', 'environments', 'cli', 'web-server', 'web'],
].flat();

const root = join(import.meta.dirname, '..');
const files = globSync('functions/**/*.{ts,tsx}', { cwd: root }).sort();

const folderOf = (file: string): string => {
  const [, first = '', ...rest] = file.split('/');
  return rest.length > 0 ? first : first.replace(/\.ts$/, '');
};

/** What a file imports of functions/, types too. */
const importsOf = (file: string): string[] => {
  const text = readFileSync(join(root, file), 'utf8');
  const matches = text.matchAll(/(?:^(?:import|export)\s[^'";]*?from\s+|\bimport\()'(\.[^']+)'/gm);
  return [...matches]
    .map(([, path = '']) => normalize(join(dirname(file), path)))
    .filter((path) => files.includes(path));
};

const imports = files.flatMap((file) => importsOf(file).map((target) => [file, target] as const));

it('has a place in the order for every folder', () => {
  expect([...new Set(files.map(folderOf))].sort()).toEqual([...order].sort());
});

it('imports only from folders below', () => {
  expect(imports.length).toBeGreaterThan(1000);
  const upwards = imports.filter(([file, target]) => order.indexOf(folderOf(target)) > order.indexOf(folderOf(file)));
  expect(upwards.map(([file, target]) => `${file} imports ${target}`)).toEqual([]);
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
