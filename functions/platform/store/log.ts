/**
 * One JSON object per line; metric filters match `message` (infra/stack/operations.ts). Never log secrets or bodies.
 */

type Fields = Record<string, unknown>;

const details = (error: unknown): Fields =>
  error instanceof Error
    ? {
        error: `${error.name}: ${error.message}`,
        stack: error.stack,
        ...(error.cause ? { cause: String(error.cause) } : {}),
      }
    : { error: String(error) };

/** Tokens of forges by their form, in case an error of a library or a server contains one. */
const tokens = /\b(gh[opsur]_|github_pat_|glpat-|glrt-|gto_)[\w.-]{10,}|(?<=Bearer )[\w.~+/-]{10,}/g;

const line = (fields: Fields): string => JSON.stringify(fields).replaceAll(tokens, '(token)');

/** @param error logged with its stack */
export const logError = (message: string, error: unknown, fields: Fields = {}): void =>
  console.error(line({ level: 'error', message, ...fields, ...details(error) }));

export const logWarning = (message: string, fields: Fields = {}): void =>
  console.warn(line({ level: 'warn', message, ...fields }));
