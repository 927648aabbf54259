import { badRequest, tooLong, tooMuch, unprocessable, unsupported } from './errors.ts';

/**
 * Limits of a request, checked before anything is read for it. API Gateway accepts 10 MB and Lambda 6 MB. Base64
 * reduces that to 4.5 MB: API Gateway encodes every body that is not `text/*` or exactly `application/json`,
 * including documents of this API (`application/vnd.api+json`).
 */
export const limits = {
  /**
   * Maximum size of a body in bytes. The largest legitimate one is a variable of 256 KB with every character escaped.
   */
  body: 2 * 1024 * 1024,
  /** For states inside documents, and reports of run tasks: the maximum that reaches a function. */
  state: 4_500_000,
  depth: 32,
  list: 1000,
  query: 4096,
  parameters: 100,
} as const;

export const checkBytes = (bytes: number, maxBytes: number): void => {
  if (bytes > maxBytes) throw tooMuch(`The body has ${bytes} bytes; the maximum is ${maxBytes}.`);
};

export const checkQuery = (query: string): URLSearchParams => {
  if (query.length > limits.query) {
    throw tooLong(`The query has ${query.length} characters; the maximum is ${limits.query}. Split the request.`);
  }
  const parameters = new URLSearchParams(query);
  if (parameters.size > limits.parameters)
    throw badRequest(`The query has ${parameters.size} parameters; the maximum is ${limits.parameters}.`);
  return parameters;
};

/** JSON, or the default content type of clients such as `curl -d`; the parser decides whether the body is JSON. */
const usedRequests =
  /^\s*(application\/([^;]*\+)?json|application\/x-www-form-urlencoded|application\/octet-stream|text\/plain)\s*(;|$)/i;

/** Rejects bodies that are compressed or cannot be JSON. */
export const checkEncoding = (type: string | undefined, encoding: string | undefined): void => {
  if (type && !usedRequests.test(type))
    throw unsupported('The body must be JSON: "Content-Type: application/vnd.api+json".');
  if (encoding && encoding !== 'identity')
    throw unsupported('The body must not be compressed: leave Content-Encoding out.');
};

/** JSON can escape half of a character (`"\\ud800"`), which the table cannot store. */
const notUnicode = 'is not valid Unicode: it has a lone surrogate';

/** Not recursive, so that a deeply nested document cannot overflow the stack. */
export const checkShape = (document: unknown): void => {
  let level: [pointer: string, value: object][] = [];
  const look = (pointer: string, value: unknown) => {
    if (value !== null && typeof value === 'object') level.push([pointer, value]);
    if (typeof value === 'string' && !value.isWellFormed()) throw unprocessable(pointer || '/', notUnicode);
  };
  look('', document);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limits.depth) throw badRequest(`The body is nested too deep; the maximum is ${limits.depth} levels.`);
    const current = level;
    level = [];
    for (const [pointer, value] of current) {
      if (Array.isArray(value) && value.length > limits.list) {
        throw unprocessable(pointer || '/', `may have at most ${limits.list} entries; send them in several requests`);
      }
      for (const [key, inner] of Object.entries(value)) {
        if (!key.isWellFormed()) throw unprocessable(pointer || '/', notUnicode);
        look(`${pointer}/${key.slice(0, 100)}`, inner);
      }
    }
  }
};
