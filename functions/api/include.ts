import { badRequest } from './errors.ts';
import type { ApiRequest } from './request.ts';

/**
 * The paths of an `include` parameter, in snake case.
 * @throws {ApiError} 400; clients match the words "Invalid include parameter"
 */
export const parseIncludes = <const P extends string>(value: string, allowed: readonly P[]): Set<P> => {
  const paths = value
    .split(',')
    .map((path) => path.trim().replaceAll('-', '_'))
    .filter(Boolean);
  for (const path of paths) {
    if (!(allowed as readonly string[]).includes(path)) {
      throw badRequest(`Invalid include parameter: ${path.slice(0, 100)}. Known: ${allowed.join(', ')}.`, 'include');
    }
  }
  return new Set(paths as P[]);
};

/** The paths that responses of a route can include, for its declaration and for its handler. */
export interface Includable<P extends string> {
  paths: readonly P[];
  /** The paths in the request. */
  of(request: ApiRequest): Set<P>;
}

/**
 * Paths to include, in snake case. List unsupported ones too if clients always request them.
 */
export const includable = <const P extends string>(...paths: P[]): Includable<P> => ({
  paths,
  of: (request) => parseIncludes(request.query.get('include') ?? '', paths),
});
