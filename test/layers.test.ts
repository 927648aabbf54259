import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** The folders of functions/, the lowest first: each imports only those before it. A file beside them is one of its own. */
const order = [
  ['run', 'mask', 'hcl', 'marks', 'tar', 'environment'],
  ['protocols', 'store'],
  ['outbound', 'transport', 'binary', 'api'],
  ['people', 'audit', 'sign-in', 'agent-pools', 'projects', 'workspaces', 'variables', 'access'],
  [
    'runs',
    'configurations',
    'workload-identity',
    'policies',
    'costs',
    'run-tasks',
    'notifications',
    'removal',
    'organizations',
  ],
  ['orchestration', 'states', 'lifecycle', 'runner-api', 'agents', 'includes', 'public-api'],
  ['runner', 'agent', 'client', 'cli', 'web-server', 'web'],
].flat();

/** Why an import goes up, by the file and the folder that it imports. Nothing is added here. */
const exceptions: Record<string, string> = {
  'functions/api/admission.ts -> run-tasks': 'tokens of run tasks say whose they are',
  'functions/api/admission.ts -> runs': 'tokens of runs say whose they are',
  'functions/api/permissions/auth.ts -> access': 'to be handed to the routes by public-api',
  'functions/api/permissions/auth.ts -> people': 'to be handed to the routes by public-api',
  'functions/api/permissions/auth.ts -> run-tasks': 'to be handed to the routes by public-api',
  'functions/api/permissions/auth.ts -> runs': 'to be handed to the routes by public-api',
  'functions/api/permissions/auth.ts -> states': 'to be handed to the routes by public-api',
  'functions/api/permissions/auth.ts -> workspaces': 'to be handed to the routes by public-api',
  'functions/api/route.ts -> audit': 'to be handed to the routes by public-api',
};

const root = join(import.meta.dirname, '..');
const files = globSync('functions/**/*.{ts,tsx}', { cwd: root }).sort();

const folderOf = (file: string): string => {
  const [, first = '', ...rest] = file.split('/');
  return rest.length ? first : first.replace(/\.ts$/, '');
};

/** What a file imports of functions/, types too. */
const importsOf = (file: string): string[] => {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(/(?:^(?:import|export)\s[^'";]*?from\s+|\bimport\()'(\.[^']+)'/gm);
  return [...found].map(([, path = '']) => normalize(join(dirname(file), path))).filter((path) => files.includes(path));
};

const imports = new Map(files.map((file) => [file, importsOf(file)]));

it('has a place in the order for every folder', () => {
  expect(imports.size).toBeGreaterThan(300);
  expect([...new Set(files.map(folderOf))].sort()).toEqual([...order].sort());
});

it('imports only from the folders below', () => {
  const upwards = [...imports].flatMap(([file, targets]) =>
    targets
      .filter((target) => order.indexOf(folderOf(target)) > order.indexOf(folderOf(file)))
      .map((target) => `${file} -> ${folderOf(target)}`),
  );
  expect([...new Set(upwards)].sort()).toEqual(Object.keys(exceptions).sort());
});

/** What is left when every file that imports none of the rest, or is imported by none of it, is taken away. */
const inCircles = (): string[] => {
  const isException = (file: string, target: string) => `${file} -> ${folderOf(target)}` in exceptions;
  const edges = [...imports].flatMap(([file, targets]) =>
    targets.filter((target) => !isException(file, target)).map((target) => [file, target] as const),
  );
  for (let left = edges; ; ) {
    const [importing, imported] = [new Set(left.map(([file]) => file)), new Set(left.map(([, target]) => target))];
    const next = left.filter(([file, target]) => imported.has(file) && importing.has(target));
    if (next.length === left.length) return [...importing].sort();
    left = next;
  }
};

it('has no files that import each other in a circle', () => {
  expect(inCircles()).toEqual([]);
});
