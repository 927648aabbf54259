/**
 * One JSON object a line, which CloudWatch parses; metric filters look for `message` (infra/operations.ts). A name never
 * contains secrets; the caller decides whether an error's own message may be logged.
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

/** @param error its stack is logged too */
export const logError = (message: string, error: unknown, fields: Fields = {}): void =>
  console.error(JSON.stringify({ level: 'error', message, ...fields, ...details(error) }));

export const logWarning = (message: string, fields: Fields = {}): void =>
  console.warn(JSON.stringify({ level: 'warn', message, ...fields }));
