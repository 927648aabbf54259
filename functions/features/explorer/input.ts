import * as v from 'valibot';
import { ApiError, unprocessable } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { check, readData, text } from '#api/validation.ts';
import type { Query } from './query.ts';
import { queryFrom } from './read-query.ts';
import type { View } from './views.ts';

/** Input of saved views (HCP API: explorer, saved views). */

const queryEntries = {
  type: v.optional(text(50)),
  filter: v.optional(v.array(v.unknown())),
  fields: v.optional(v.array(text(100))),
  sort: v.optional(v.array(text(100))),
};

const queryDocument = v.strictObject(queryEntries);

const name = v.pipe(text(100), v.regex(/\S/, 'is empty'));

const settings = {
  name: v.optional(name),
  'query-type': v.optional(text(50)),
  query_type: v.optional(text(50)),
  query: v.optional(queryDocument),
};

/** @param pointer JSON pointer to the query in the body */
const problemAt =
  (pointer: string) =>
  (detail: string, where: string): Error =>
    unprocessable(`${pointer}/${where}`, detail);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** HCP Terraform's documents of views have no attributes: their fields are in `data` itself. */
const withAttributes = (request: ApiRequest): ApiRequest => {
  const body = request.json();
  const data = isRecord(body) ? body.data : undefined;
  if (!isRecord(data) || 'attributes' in data || 'relationships' in data) return request;
  const { id: _id, type: _type, links: _links, ...attributes } = data;
  return { ...request, json: () => ({ data: { attributes } }) };
};

const shown = { shown: 'created-at', related: '' };

/** @throws {ApiError} 400 or 422 */
export const readViewChange = (request: ApiRequest): Partial<Pick<View, 'name' | 'query'>> => {
  const { attributes } = readData(withAttributes(request), settings, {}, shown);
  const { name, query } = attributes;
  const type = attributes['query-type'] ?? attributes.query_type;
  if (type !== undefined && query === undefined) {
    throw unprocessable('/data/query', 'query: is missing. To change query-type, send a query of the new type');
  }
  if (type !== undefined && query?.type !== undefined && type !== query.type) {
    throw unprocessable('/data/query-type', `query-type: is ${type}, but the query is for ${query.type}`);
  }
  const read = query && queryFrom({ ...query, type: query.type ?? type }, problemAt('/data/query'));
  return { ...(name === undefined ? {} : { name }), ...(read ? { query: read } : {}) };
};

/** @throws {ApiError} 400 or 422 */
export const readNewView = (request: ApiRequest): Pick<View, 'name' | 'query'> => {
  const { name, query } = readViewChange(request);
  const missing = [...(name === undefined ? ['name'] : []), ...(query === undefined ? ['query'] : [])];
  if (name !== undefined && query) return { name, query };
  throw new ApiError(
    422,
    missing.map((field) => ({
      title: 'invalid attribute',
      detail: `${field}: is missing`,
      source: { pointer: `/data/${field}` },
    })),
  );
};

/** The targets of a bulk action. @throws {ApiError} 422 */
export const readTargets = (query: unknown): Query => {
  const pointer = '/data/attributes/query';
  const document = check(v.object({ data: v.object({ attributes: v.object({ query: queryDocument }) }) }), {
    data: { attributes: { query } },
  });
  const read = queryFrom(document.data.attributes.query, problemAt(pointer));
  if (read.type === 'workspaces') return read;
  throw unprocessable(`${pointer}/type`, 'type: must be workspaces, because bulk actions apply to workspaces only');
};
