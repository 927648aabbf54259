import { traceIdOf } from '#platform/formats/trace-ids.ts';
import { invocation, runIdIn } from './invocation.ts';

/**
 * One JSON object per line; metric filters match `message` (infra/stack/operations.ts). Each line has the id of its
 * request, and of the run that it is about with its trace. Never log secrets or bodies.
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

/** The run that a line names, in its fields or else by its invocation. */
const about = (fields: Fields): Fields => {
  const named = Object.values(fields).find((value) => typeof value === 'string' && runIdIn(value));
  const runId = runIdIn(String(named)) ?? invocation()?.runId;
  return runId ? { runId, traceId: traceIdOf(runId) } : {};
};

type Level = 'error' | 'warn' | 'info';

/**
 * In a deployed function not through `console`, whose output Lambda puts as one text into an object of its own: Logs
 * Insights would not find the fields in it.
 */
const write = (level: Level, message: string, fields: Fields, more: Fields = {}): void => {
  const within = invocation();
  const ids = { requestId: within?.requestId, ...about(fields) };
  const line = { timestamp: new Date().toISOString(), level, message, ...ids, ...fields, ...more };
  const text = JSON.stringify(line).replaceAll(tokens, '(token)');
  if (within) process.stdout.write(`${text}\n`);
  else console[level](text);
};

/** @param error logged with its stack */
export const logError = (message: string, error: unknown, fields: Fields = {}): void =>
  write('error', message, fields, details(error));

export const logWarning = (message: string, fields: Fields = {}): void => write('warn', message, fields);

/** A step of a run; only in deployed functions. */
export const logInfo = (message: string, fields: Fields): void => {
  if (invocation()) write('info', message, fields);
};
