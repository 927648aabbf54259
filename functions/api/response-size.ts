import type { Answer } from './answer.ts';
import { badRequest } from './errors.ts';

/**
 * Lambda's limit for responses: 6 MB of JSON that contains the body as a string, in which a quote takes two bytes.
 * Larger responses become an internal error of API Gateway without an explanation.
 */
export const maxResponseBytes = 6 * 1024 * 1024 - 16 * 1024;

/** Bytes that a text takes as a string in that JSON. */
export const sizeInResponse = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** A character takes three bytes at most, so only bodies above a third of the limit are measured. */
export const isTooLarge = ({ body = '' }: Pick<Answer, 'body'>): boolean =>
  body.length > maxResponseBytes / 3 && sizeInResponse(body) > maxResponseBytes;

const remedy = 'Request a smaller page[size] or a single resource, leave include out, or download the state instead';

/**
 * Checks reads only: a change has already been made, so its response is sent as it is.
 * @throws {ApiError} 400 instead of a response that is too large
 */
export const checkSize = (method: string, answer: Answer): Answer => {
  if (method !== 'GET' || !isTooLarge(answer)) return answer;
  throw badRequest(`The response exceeds the limit of 6 MB. ${remedy}.`, 'include');
};

/** Maximum parallel reads: each can be as large as a response, and a function's memory is limited. */
const atOnce = 4;

/**
 * Reads each item, as long as all results fit into one response.
 * @throws {ApiError} 400 that names the first item that does not fit
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
