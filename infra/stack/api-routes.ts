import type { HttpDeclaration } from './declaration.ts';
import { type HttpFunction, httpFunctionIds, httpFunctions } from './functions.ts';

/** Which function answers which path of the HTTP API, derived from the routes that each function's own router knows. */

export interface ApiRoute {
  /** Of API Gateway: `ANY /api/v2/{proxy+}`. */
  key: string;
  target: HttpFunction;
}

/** A path as API Gateway reads it. */
interface Node {
  /** Path of this node, with the names of parameters that came first. */
  path: string;
  literals: Map<string, Node>;
  parameter?: Node;
  /** Who answers this very path, by method. */
  targets: Map<string, HttpFunction>;
  /** Who is declared to answer everything below it. */
  owner?: HttpFunction;
  /** Found keys below it, by who answers around it: each is asked for once for every way to cut what is above. */
  found: Map<HttpFunction | undefined, ApiRoute[]>;
}

const node = (path: string): Node => ({ path, literals: new Map(), targets: new Map(), found: new Map() });

const childrenOf = ({ literals, parameter }: Node): Node[] => [...literals.values(), ...(parameter ? [parameter] : [])];

/** API Gateway knows a parameter by its place: whatever routes call it, it has one name. */
const childAt = (parent: Node, segment: string): Node => {
  if (segment.startsWith('{')) {
    parent.parameter ??= node(`${parent.path}/${segment}`);
    return parent.parameter;
  }
  const child = parent.literals.get(segment) ?? node(`${parent.path}/${segment}`);
  parent.literals.set(segment, child);
  return child;
};

/** All functions that answer something below a path, apart from the path itself. */
const targetsBelow = (at: Node): Set<HttpFunction> =>
  new Set(childrenOf(at).flatMap((child) => [...child.targets.values(), ...targetsBelow(child)]));

const greedy = '{proxy+}';

/** Keys of one path: for every method, where all of its methods are for one function. */
const keysOf = ({ path, targets }: Node, around: HttpFunction | undefined): ApiRoute[] => {
  const astray = [...targets].filter(([, target]) => target !== around);
  const [first] = astray;
  if (first && new Set(targets.values()).size === 1) return [{ key: `ANY ${path}`, target: first[1] }];
  return astray.map(([method, target]) => ({ key: `${method} ${path}`, target }));
};

const keysUnder = (at: Node, owner: HttpFunction | undefined): ApiRoute[] =>
  childrenOf(at).flatMap((child) => [...keysOf(child, owner), ...keysBelow(child, owner)]);

/** As {@link fewestKeys}, from what was found before. */
const keysBelow = (at: Node, around: HttpFunction | undefined): ApiRoute[] => {
  const keys = at.found.get(around) ?? fewestKeys(at, around);
  at.found.set(around, keys);
  return keys;
};

/**
 * The fewest keys below a path. The most specific key wins (HTTP APIs: routing), so a subtree can belong to the function
 * that answers most of it: only paths of other functions have keys of their own. Where nobody answers the subtree around
 * it, what no function is declared for stays unanswered.
 */
const fewestKeys = (at: Node, around: HttpFunction | undefined): ApiRoute[] => {
  if (at.owner !== undefined) return keysUnder(at, at.owner);
  const targets = targetsBelow(at);
  const others = [...targets].filter((target) => target !== around);
  const wholes = others.map((target) => [{ key: `ANY ${at.path}/${greedy}`, target }, ...keysUnder(at, target)]);
  const [whole] = wholes;
  // Also for a subtree of one path: routes that come to it change no key.
  if (whole && targets.size === 1) return whole;
  const separate = keysUnder(at, around);
  if (around === undefined) return separate;
  return wholes.reduce((fewest, keys) => (keys.length < fewest.length ? keys : fewest), separate);
};

/** What the functions' routers know, by full path. */
export interface KnownRoute {
  method: string;
  path: string;
  target: HttpFunction;
}

/** Imports the modules of all routes: a second or so. */
export const knownRoutes = async (): Promise<KnownRoute[]> => {
  const all = httpFunctionIds.map(async (target) => {
    const { routes }: HttpDeclaration['http'] = httpFunctions[target].http;
    return ((await routes?.()) ?? []).map(({ method, path }) => ({ method, path, target }));
  });
  return (await Promise.all(all)).flat();
};

const subtreesOf = (target: HttpFunction): ApiRoute[] => {
  const { subtrees = [] }: HttpDeclaration['http'] = httpFunctions[target].http;
  return subtrees.map((key) => ({ key, target }));
};

/** As few keys as possible: an API has 300 (API Gateway: quotas). */
export const deriveApiRoutes = async (): Promise<ApiRoute[]> => {
  const subtrees = httpFunctionIds.flatMap(subtreesOf);
  const root = node('');
  const nodeAt = (path: string): Node => path.slice(1).split('/').reduce(childAt, root);
  for (const { key, target } of subtrees) {
    const [, subtree] = /^\w+ (\S+)\/\{proxy\+\}$/.exec(key) ?? [];
    if (subtree) nodeAt(subtree).owner = target;
  }
  for (const { method, path, target } of await knownRoutes()) nodeAt(path).targets.set(method, target);
  return [...subtrees, ...keysBelow(root, undefined)];
};
