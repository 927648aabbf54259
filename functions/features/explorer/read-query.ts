import { badRequest } from '#api/errors.ts';
import { commaSeparated } from '#api/query-parameters.ts';
import type { ApiRequest } from '#api/request.ts';
import { fieldsOf, type Operator, operators, type QueryType, queryTypes } from './fields.ts';
import { type Filter, parseValue, type Query } from './query.ts';

/** Reads queries from the parameters of a request, or from a document in its body. */

const maxFilters = 20;

type Problem = (detail: string, where: string) => Error;

const inParameter: Problem = (detail, where) => badRequest(detail, where);

const typeIn = (text: unknown, problem: Problem): QueryType => {
  const type = queryTypes.find((queryType) => queryType === text);
  if (type) return type;
  throw problem(`type must be one of ${queryTypes.join(', ')}.`, 'type');
};

/** Accepts dashes, as in rows. */
const fieldIn = (type: QueryType, text: string, problem: Problem, where: string): string => {
  const name = text.replaceAll('-', '_');
  if (Object.hasOwn(fieldsOf(type), name)) return name;
  throw problem(
    `${where}: ${text.slice(0, 100)} is not a field of ${type}. Fields: ${Object.keys(fieldsOf(type)).join(', ')}.`,
    where,
  );
};

/** `does not contain` is an alias of `does_not_contain`. */
const filterIn = (
  type: QueryType,
  [fieldText, operatorText, value]: [string, string, string],
  problem: Problem,
  where: string,
): Filter => {
  const field = fieldIn(type, fieldText, problem, where);
  const kind = fieldsOf(type)[field] ?? 'text';
  const operator = operatorText.replaceAll(' ', '_');
  const names: readonly string[] = operators[kind];
  if (!names.includes(operator)) {
    throw problem(
      `${where}: ${field} cannot be filtered by ${operatorText.slice(0, 100)}. Operators: ${names.join(', ')}.`,
      where,
    );
  }
  if (!operator.endsWith('_empty') && parseValue(kind, value) === undefined) {
    const must = { number: 'a number', boolean: 'true or false', time: 'a time (ISO 8601)', text: 'a text' }[kind];
    throw problem(`${where}: the value for ${field} must be ${must}.`, where);
  }
  return { field, operator: operator as Operator, value };
};

const sortIn = (type: QueryType, names: string[], problem: Problem): string[] =>
  names.map((name) => {
    const [, minus = '', field = ''] = /^(-?)(.*)$/s.exec(name) ?? [];
    return `${minus}${fieldIn(type, field, problem, 'sort')}`;
  });

/** `filter[0][workspace_name][contains][0]` */
const filterName = /^filter\[(\d{1,3})\]\[([^[\]]+)\]\[([^[\]]+)\]\[(\d{1,3})\]$/;

const filtersOf = (type: QueryType, query: URLSearchParams): Filter[] => {
  const filters = new Map<number, Filter>();
  for (const [name, value] of query) {
    if (!name.startsWith('filter[')) continue;
    const [, index = '', field = '', operator = '', valueIndex] = filterName.exec(name) ?? [];
    if (valueIndex !== '0') {
      throw badRequest(`${name.slice(0, 100)} must be filter[<number>][<field>][<operator>][0].`, name.slice(0, 100));
    }
    if (filters.has(Number(index)))
      throw badRequest(`filter[${index}] is set more than once. Number the filters consecutively.`, name);
    filters.set(Number(index), filterIn(type, [field, operator, value], inParameter, name.slice(0, 100)));
  }
  if (filters.size > maxFilters) throw badRequest(`At most ${maxFilters} filters are allowed.`, 'filter');
  return [...filters].sort(([a], [b]) => a - b).map(([, filter]) => filter);
};

/** @throws {ApiError} 400 that names the parameter */
export const queryOf = ({ query }: ApiRequest): Query => {
  const type = typeIn(query.get('type'), inParameter);
  return {
    type,
    filters: filtersOf(type, query),
    fields: commaSeparated(query.get('fields')).map((name) => fieldIn(type, name, inParameter, 'fields')),
    sort: sortIn(type, commaSeparated(query.get('sort')), inParameter),
  };
};

/** A query in the body of a saved view or bulk action. */
export interface QueryDocument {
  type?: string | undefined;
  filter?: unknown[] | undefined;
  fields?: string[] | undefined;
  sort?: string[] | undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const firstOf = (value: unknown): string => {
  const text = Array.isArray(value) ? value[0] : value;
  return ['string', 'number', 'boolean'].includes(typeof text) ? String(text) : '';
};

/** `{field, operator, value: [v]}`, or in bulk actions `{field: {operator: [v]}}`. */
const partsOf = (entry: unknown): [string, string, string] | undefined => {
  if (!isRecord(entry)) return undefined;
  if (typeof entry.field === 'string' && typeof entry.operator === 'string') {
    return isSingle(entry.value) ? [entry.field, entry.operator, firstOf(entry.value)] : undefined;
  }
  const [[field, inner] = [], ...others] = Object.entries(entry);
  if (field === undefined || others.length > 0 || !isRecord(inner)) return undefined;
  const [[operator, value] = [], ...more] = Object.entries(inner);
  return operator === undefined || more.length > 0 || !isSingle(value) ? undefined : [field, operator, firstOf(value)];
};

const isSingle = (value: unknown): boolean => !Array.isArray(value) || value.length <= 1;

/** @param problem creates the error from the message and the position in the query */
export const queryFrom = (document: QueryDocument, problem: Problem): Query => {
  const type = typeIn(document.type, problem);
  const filter = document.filter ?? [];
  if (filter.length > maxFilters) throw problem(`At most ${maxFilters} filters are allowed.`, 'filter');
  return {
    type,
    filters: filter.map((entry, i) => {
      const parts = partsOf(entry);
      if (parts) return filterIn(type, parts, problem, `filter/${i}`);
      throw problem(`filter/${i} must have field, operator, and one value.`, `filter/${i}`);
    }),
    fields: (document.fields ?? []).map((name) => fieldIn(type, name, problem, 'fields')),
    sort: sortIn(type, document.sort ?? [], problem),
  };
};
