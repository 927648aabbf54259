/** One JSON object a line; metric filters look for `message` (infra/operations.ts). Never log secrets or bodies. */

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
