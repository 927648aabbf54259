import type { HttpDeclaration } from './declaration.ts';
import { type HttpFunction, httpFunctionIds, httpFunctions } from './functions.ts';

/** The function behind each path of the HTTP API, derived from the routes of each function's own router. */

export interface ApiRoute {
  /** Route key of API Gateway: `ANY /api/v2/{proxy+}`. */
  key: string;
  target: HttpFunction;
}

/** A path segment as API Gateway reads it. */
interface Node {
  /** Path of this node, with the parameter names of the first route. */
  path: string;
  literals: Map<string, Node>;
  parameter?: Node;
  /** The function behind exactly this path, by method. */
  targets: Map<string, HttpFunction>;
  /** The function that is declared for everything below it. */
  owner?: HttpFunction;
  /**
   * Memoized keys below it, by the function of the surrounding subtree: each variant of the tree above needs them again.
   */
  found: Map<HttpFunction | undefined, ApiRoute[]>;
}

const node = (path: string): Node => ({ path, literals: new Map(), targets: new Map(), found: new Map() });

const childrenOf = ({ literals, parameter }: Node): Node[] => [...literals.values(), ...(parameter ? [parameter] : [])];

/** API Gateway identifies a parameter by its position, so it needs one name for all routes. */
const childAt = (parent: Node, segment: string): Node => {
  if (segment.startsWith('{')) {
    parent.parameter ??= node(`${parent.path}/${segment}`);
    return parent.parameter;
  }
  const child = parent.literals.get(segment) ?? node(`${parent.path}/${segment}`);
  parent.literals.set(segment, child);
  return child;
};

/** All functions with routes below a path, without the path itself. */
const targetsBelow = (at: Node): Set<HttpFunction> =>
  new Set(childrenOf(at).flatMap((child) => [...child.targets.values(), ...targetsBelow(child)]));

const greedy = '{proxy+}';

/** Route keys of one path: one per method, or ANY if all of its methods belong to one function. */
const keysOf = ({ path, targets }: Node, around: HttpFunction | undefined): ApiRoute[] => {
  const astray = [...targets].filter(([, target]) => target !== around);
  const [first] = astray;
  if (first && new Set(targets.values()).size === 1) return [{ key: `ANY ${path}`, target: first[1] }];
  return astray.map(([method, target]) => ({ key: `${method} ${path}`, target }));
};

const keysUnder = (at: Node, owner: HttpFunction | undefined): ApiRoute[] =>
  childrenOf(at).flatMap((child) => [...keysOf(child, owner), ...keysBelow(child, owner)]);

/** {@link fewestKeys}, memoized. */
const keysBelow = (at: Node, around: HttpFunction | undefined): ApiRoute[] => {
  const keys = at.found.get(around) ?? fewestKeys(at, around);
  at.found.set(around, keys);
  return keys;
};

/**
 * The minimum of route keys below a path. The most specific key wins (HTTP APIs: routing), so a subtree can belong to
 * the function with most of its routes: only paths of other functions have keys of their own. Where no function serves
 * the surrounding subtree, undeclared paths get no key.
 */
const fewestKeys = (at: Node, around: HttpFunction | undefined): ApiRoute[] => {
  if (at.owner !== undefined) return keysUnder(at, at.owner);
  const targets = targetsBelow(at);
  const others = [...targets].filter((target) => target !== around);
  const wholes = others.map((target) => [{ key: `ANY ${at.path}/${greedy}`, target }, ...keysUnder(at, target)]);
  const [whole] = wholes;
  // Also for a subtree of one path: later routes of that function then change no key.
  if (whole && targets.size === 1) return whole;
  const separate = keysUnder(at, around);
  if (around === undefined) return separate;
  return wholes.reduce((fewest, keys) => (keys.length < fewest.length ? keys : fewest), separate);
};

/** The routes of the functions' routers, by full path. */
export interface KnownRoute {
  method: string;
  path: string;
  target: HttpFunction;
}

/** Imports the modules of all routes, which takes about a second. */
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

/** As few keys as possible: an API has at most 300 (API Gateway: quotas). */
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
