import { badRequest } from './errors.ts';
import type { ApiRequest } from './request.ts';

/**
 * The asked-for `include` paths, in snake case. Those a route knows of but never has (nothing of the kind exists yet)
 * are listed too, so that clients which always ask for them go on.
 * @throws {ApiError} 400; clients look for the words "Invalid include parameter"
 */
export const includes = <const P extends string>(request: ApiRequest, known: readonly P[]): Set<P> => {
  const asked = (request.query.get('include') ?? '')
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
