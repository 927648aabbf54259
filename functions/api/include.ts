import { badRequest } from './errors.ts';
import type { ApiRequest } from './request.ts';

/**
 * The paths of an `include` parameter, in snake case.
 * @throws {ApiError} 400; clients look for the words "Invalid include parameter"
 */
export const parseIncludes = <const P extends string>(value: string, known: readonly P[]): Set<P> => {
  const asked = value
    .split(',')
    .map((path) => path.trim().replaceAll('-', '_'))
    .filter(Boolean);
  for (const path of asked) {
    if (!(known as readonly string[]).includes(path)) {
      throw badRequest(`Invalid include parameter: ${path.slice(0, 100)}. Known: ${known.join(', ')}.`, 'include');
    }
  }
  return new Set(asked as P[]);
};

/**
 * What the request asks to include. Paths that a route knows of but never has (nothing of the kind exists yet) are
 * known too, so that clients which always ask for them go on.
 * @throws {ApiError} 400
 */
export const includes = <const P extends string>(request: ApiRequest, known: readonly P[]): Set<P> =>
  parseIncludes(request.query.get('include') ?? '', known);
