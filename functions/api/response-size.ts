import type { Answer } from './answer.ts';
import { badRequest } from './errors.ts';

/**
 * Lambda's limit of a response: 6 MB of JSON, in which the body is text, so that a quote takes two bytes. What is larger
 * would be an internal error of API Gateway, without a word about why.
 */
export const maxResponseBytes = 6 * 1024 * 1024 - 16 * 1024;

/** What a text takes of that, in bytes. */
export const sizeInResponse = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** A character takes three bytes at most; only what could be too large is measured. */
export const isTooLarge = ({ body = '' }: Pick<Answer, 'body'>): boolean =>
  body.length > maxResponseBytes / 3 && sizeInResponse(body) > maxResponseBytes;

const remedy = 'Request a smaller page[size] or a single resource, leave include out, or download the state instead';

/** @throws {ApiError} 400 instead of a response that is too large. Changes are done by then, and answered as they are. */
export const checkSize = (method: string, answer: Answer): Answer => {
  if (method !== 'GET' || !isTooLarge(answer)) return answer;
  throw badRequest(`The response exceeds the limit of 6 MB. ${remedy}.`, 'include');
};

/** So many at once: what each reads can be as large as a response, and a function's memory is not without end. */
const atOnce = 4;

/**
 * What `read` makes of each, as long as all of it can be in one response.
 * @throws {ApiError} 400 that names the first that cannot
 */
export const readWithin = async <T, R>(
  items: readonly T[],
  read: (item: T) => Promise<R[]>,
  nameOf: (item: T) => string,
): Promise<R[][]> => {
  const results: R[][] = [];
  let length = 0;
  for (let i = 0; i < items.length; i += atOnce) {
    const batch = items.slice(i, i + atOnce);
    for (const [n, result] of (await Promise.all(batch.map(read))).entries()) {
      length += JSON.stringify(result).length;
      if (length > maxResponseBytes) {
        const subject = nameOf(batch[n] as T);
        throw badRequest(`include: with ${subject} the response exceeds the limit of 6 MB. ${remedy}.`, 'include');
      }
      results.push(result);
    }
  }
  return results;
};
