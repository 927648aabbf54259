import { ApiError, ForeignServerError, UnreachableError } from '#clients/client/client.ts';
import { CommandError, type ExitCode, exit } from './exit.ts';
import { reasonOf } from './network-timeout.ts';
import { program } from './program.ts';
import type { Credentials } from './session.ts';

/** Errors as messages and exit codes. */

const codeOf = (status: number): ExitCode => {
  if (status === 401 || status === 403) return exit.notAllowed;
  if (status === 404) return exit.notFound;
  return [400, 409, 422].includes(status) ? exit.notNow : exit.failed;
};

export interface Failure {
  code: ExitCode;
  errors: { status?: string; title: string; detail?: string }[];
}

const connectionFailure = (error: TypeError): string => {
  const reason = reasonOf(error);
  if (/CERT|SIGNATURE|ALTNAME/.test(reason)) {
    return `The server’s certificate is not trusted (${reason}). To trust your own certificate authority, set SSL_CERT_FILE=<file>`;
  }
  return `Can’t reach ${error instanceof UnreachableError ? error.url : 'the server'} (${reason}). Check that it is running, or give another --host`;
};

const foreign = ({ url }: ForeignServerError): string =>
  `${url} responds, but not with HCP Terraform’s API. Check the address: --host, TFE_ADDRESS or the cloud block`;

/** The environment's token takes precedence over a stored one, so signing in would not help. */
const tokenAdvice = (credentials: Credentials | undefined): string => {
  const login = `${program} login${credentials ? ` ${credentials.host}` : ''}`;
  if (credentials?.from !== 'TFE_TOKEN') return `Your token has expired or was revoked. Sign in again: ${login}`;
  return `TFE_TOKEN is not a valid token for ${credentials.host}. Set another one, or unset it and sign in: ${login}`;
};

const errorsOf = ({ status, errors, message }: ApiError, credentials: Credentials | undefined): Failure['errors'] => {
  if (status !== 401) return errors.length ? errors : [{ title: message }];
  return [{ title: tokenAdvice(credentials) }];
};

/** The message to print, and the exit code. */
export const failureOf = (error: unknown, credentials?: Credentials): Failure => {
  if (error instanceof CommandError) return { code: error.exitCode, errors: [{ title: error.message }] };
  if (error instanceof ForeignServerError) return { code: exit.failed, errors: [{ title: foreign(error) }] };
  if (error instanceof ApiError) return { code: codeOf(error.status), errors: errorsOf(error, credentials) };
  if (error instanceof TypeError && error.cause)
    return { code: exit.failed, errors: [{ title: connectionFailure(error) }] };
  const { code, path, stack } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' && path) return { code: exit.usage, errors: [{ title: `File not found: ${path}` }] };
  // Unexpected: the stack trace helps to find the cause.
  return { code: exit.failed, errors: [{ title: stack ?? String(error) }] };
};
