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
}

const node = (path: string): Node => ({ path, literals: new Map(), targets: new Map() });

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

/** All who answer something below a path, and not the path itself. */
const targetsBelow = (at: Node): Set<HttpFunction> =>
  new Set(childrenOf(at).flatMap((child) => [...child.targets.values(), ...targetsBelow(child)]));

const greedy = '{proxy+}';

/**
 * Keys below a path. The most specific key wins (HTTP APIs: routing), so what belongs to the subtree around it needs none.
 * @param around who answers what has no key of its own
 */
const keysBelow = (at: Node, around: HttpFunction | undefined): ApiRoute[] => {
  const [target, ...others] = targetsBelow(at);
  const isWhole = at.owner === undefined && target !== undefined && others.length === 0 && target !== around;
  const owner = at.owner ?? (isWhole ? target : around);
  return [
    ...(isWhole ? [{ key: `ANY ${at.path}/${greedy}`, target }] : []),
    ...childrenOf(at).flatMap((child) => [...keysOf(child, owner), ...keysBelow(child, owner)]),
  ];
};

/** Keys of one path: for every method, where all of its methods are for one function. */
const keysOf = ({ path, targets }: Node, around: HttpFunction | undefined): ApiRoute[] => {
  const astray = [...targets].filter(([, target]) => target !== around);
  const [first] = astray;
  if (first && new Set(targets.values()).size === 1) return [{ key: `ANY ${path}`, target: first[1] }];
  return astray.map(([method, target]) => ({ key: `${method} ${path}`, target }));
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
