import { createHash } from 'node:crypto';
import { stateFile } from '#test/support/state.ts';
import type { Living } from './platform.ts';
import { anyJson, type Random } from './random.ts';
import type { Shape } from './shapes.ts';

/** Documents in the shape that a route reads, with plausible values, until one place is broken. */

type Json = Record<string, unknown> | unknown[];

const idOf: Record<string, string[]> = {
  workspace: ['workspace', 'another workspace'],
  workspaces: ['workspace', 'another workspace'],
  sourceable: ['another workspace', 'workspace'],
  subscribable: ['workspace'],
  project: ['project'],
  projects: ['project'],
  parent: ['project'],
  team: ['team'],
  teams: ['team'],
  run: ['run', 'another run'],
  user: ['user'],
  users: ['user'],
  task: ['task'],
  policies: ['policy'],
  organization: ['organization'],
  'agent-pool': ['pool'],
  'agent-pool-id': ['pool'],
  'default-agent-pool': ['pool'],
  'default-agent-pool-id': ['pool'],
  'configuration-version': ['configuration-versions'],
  'state-version': ['state-versions'],
  'rollback-state-version': ['state-versions'],
  'policy-sets': ['set', 'policy set'],
  agent: ['agent'],
};

const state = () => {
  const { text, ...attributes } = stateFile({ outputs: { a: { value: 1, type: 'number' } } });
  return { ...attributes, state: Buffer.from(text).toString('base64') };
};

let counter = 0;

/** A value that fits the name, in most cases. */
const byName: Record<string, (random: Random) => unknown> = {
  name: (random) => `fuzz-${random.below(1e6)}-${++counter}`,
  key: (random) => random.of(['a', 'TF_LOG', `key_${random.below(50)}`]),
  category: (random) => random.of(['terraform', 'env', 'policy-set', 'task']),
  email: (random) => `person-${random.below(100)}@b.test`,
  username: (random) => `person-${random.below(1000)}`,
  url: (random) => random.of(['https://127.0.0.1:1/', 'https://example.test/', '']),
  'terraform-version': (random) => random.of(['1.11.4', 'latest', '~> 1.5.0', '0.0.0', '']),
  'expired-at': (random) => random.of(['2999-01-01T00:00:00.000Z', '2000-01-01T00:00:00Z']),
  'target-addrs': (random) => [random.of(['null_resource.a', 'module.a["b"].c.d[0]'])],
  'replace-addrs': () => ['null_resource.a'],
  variables: () => [{ key: 'a', value: '"b"' }],
  triggers: () => ['run:created', 'run:errored'],
  serial: (random) => random.of([1, 2, 1000]),
  md5: () => createHash('md5').update('x').digest('hex'),
  lineage: () => 'lineage',
  state: () => state().state,
  query: () => 'data.terraform.deny',
  'commit-sha': () => 'a'.repeat(40),
  enforce: () => [{ mode: 'advisory' }],
  agent: (random) => `agent-${String(random.below(10)).repeat(32)}`,
  runId: (random) => `run-${String(random.below(10)).repeat(16)}`,
};

const choicesOf = (problem: string): string[] =>
  /must be one of (.*)$/
    .exec(problem)?.[1]
    ?.split(', ')
    .map((text) => text.replaceAll('"', '')) ?? [];

const leaf = (name: string, problem: string, random: Random, { world }: Living): unknown => {
  const named = idOf[name];
  if (named && !/true or false/.test(problem) && random.chance(0.9)) return world[random.of(named)];
  const make = byName[name];
  if (make && !/true or false/.test(problem)) return make(random);
  if (/true or false/.test(problem)) return random.chance(0.5);
  const choices = choicesOf(problem);
  if (choices.length) return random.of(choices);
  if (/must be a list/.test(problem)) return [];
  if (/must be a whole number/.test(problem)) return random.below(10);
  const literal = /must be "([^"]*)"|must be ([\w-]+)$/.exec(problem);
  if (literal?.[1] !== undefined) return literal[1];
  return random.of(['text', 'a', '1.2.3', 'https://example.test/']);
};

const plural = (name: string): string =>
  name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name.replace(/s$/, '')}s`;

const valueFor = (shape: Shape, path: string[], random: Random, living: Living): unknown => {
  const name = path.at(-1) ?? '';
  const owner = path.findLast((part) => !['data', '*', 'id', 'type', 'attributes', 'relationships'].includes(part));
  if (name === 'type') return random.chance(0.9) ? plural(owner ?? 'things') : random.of([null, '', 'projects']);
  if (name === 'id') return leaf(owner ?? '', '', random, living);
  const entry = shape.parts.get('*');
  if (entry) {
    return Array.from({ length: random.below(4) }, () => valueFor(entry, [...path, '*'], random, living));
  }
  if (shape.parts.size === 0 || /must be (a string|one of|true or false)/.test(shape.problem ?? '')) {
    return leaf(name, shape.problem ?? '', random, living);
  }
  const required = name === '' || name === 'data' || name === 'attributes' || name === 'relationships';
  const object: Record<string, unknown> = {};
  for (const [key, part] of shape.parts) {
    const included = required && /^(data|attributes|relationships|name|key|category|workspace|team|task)$/.test(key);
    if (included ? random.chance(0.95) : random.chance(0.45))
      object[key] = valueFor(part, [...path, key], random, living);
  }
  return object;
};

const places = (value: unknown, holders: [Json, string | number][] = []): [Json, string | number][] => {
  if (value === null || typeof value !== 'object') return holders;
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  for (const key of keys) {
    holders.push([value as Json, key]);
    places((value as Record<string | number, unknown>)[key], holders);
  }
  return holders;
};

/** Changes one place of the document: another value, none, or an additional unknown property. */
const breakOne = (document: unknown, random: Random): void => {
  const holders = places(document);
  if (holders.length === 0) return;
  const [holder, key] = random.of(holders);
  const object = holder as Record<string | number, unknown>;
  const kind = random.below(8);
  if (kind === 0) delete object[key];
  else if (kind === 1) object[key] = null;
  else if (kind === 2) object[key] = [object[key]];
  else if (kind === 3) {
    // An own property, because JSON can have that name too.
    const name = random.of(['no-such', '__proto__', 'id', 'status', 'data']);
    Object.defineProperty(object, name, {
      value: anyJson(random),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else object[key] = anyJson(random);
};

/** @param broken number of places to change */
export const documentOf = (shape: Shape, random: Random, living: Living, broken: number): unknown => {
  const document = valueFor(shape, [], random, living);
  for (let i = 0; i < broken; i++) breakOne(document, random);
  return document;
};
