import type { Answer } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import { scimJson } from './answers.ts';
import { invalidValue } from './errors.ts';
import { urns } from './urns.ts';

/** Pages of lists (RFC 7644 §3.4.2.4). */

export const maxCount = 200;
const defaultCount = 100;

export interface Page {
  /** Counts from 1. */
  startIndex: number;
  count: number;
}

const numberIn = ({ query }: ApiRequest, name: string, otherwise: number): number => {
  const value = query.get(name);
  if (value === null || value === '') return otherwise;
  if (!/^-?\d{1,9}$/.test(value)) throw invalidValue(`${name} must be a whole number.`);
  return Number(value);
};

/** Numbers below the minimum count as the minimum. @throws {ScimError} 400 */
export const pageOf = (request: ApiRequest): Page => ({
  startIndex: Math.max(1, numberIn(request, 'startIndex', 1)),
  count: Math.min(maxCount, Math.max(0, numberIn(request, 'count', defaultCount))),
});

export const sliceOf = <T>(all: T[], { startIndex, count }: Page): T[] =>
  all.slice(startIndex - 1, startIndex - 1 + count);

export const listAnswer = (totalResults: number, { startIndex }: Page, resources: object[]): Answer =>
  scimJson(200, {
    schemas: [urns.list],
    totalResults,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  });
