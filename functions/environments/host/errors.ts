import { ApiError } from '#api/errors.ts';
import { NestingError } from '#platform/formats/hcl.ts';
import { diskFullText, isDiskFull } from '#platform/store/disk-full.ts';

/** Errors in the form of Coder's API: message, detail, and the invalid fields. */

export interface Validation {
  field: string;
  detail: string;
}

export class CoderError extends Error {
  override name = 'CoderError';
  readonly status: number;
  readonly detail: string | undefined;
  readonly validations: Validation[] | undefined;

  constructor(status: number, message: string, detail?: string, validations?: Validation[]) {
    super(message);
    this.status = status;
    this.detail = detail;
    this.validations = validations;
  }
}

export const notFound = (): CoderError =>
  new CoderError(404, 'Resource not found or you do not have access to this resource');

const noPermission =
  "You don't have permission to view this content. If you believe this is a mistake, please contact your administrator or try signing in with different credentials.";

export const forbidden = (message?: string): CoderError =>
  message ? new CoderError(403, message) : new CoderError(403, 'Forbidden.', noPermission);

export const invalid = (field: string, detail: string, message = 'Validation failed.'): CoderError =>
  new CoderError(400, message, undefined, [{ field, detail }]);

export const invalidQuery = (...validations: Validation[]): CoderError =>
  new CoderError(400, 'Query parameters have invalid values.', undefined, validations);

export const internalError = new CoderError(500, 'An internal server error occurred.');

const signedOut = 'You are signed out or your session has expired. Please sign in again to continue.';

/** @returns undefined for internal errors */
export const coderErrorOf = (error: unknown): CoderError | undefined => {
  if (error instanceof CoderError) return error;
  if (error instanceof NestingError) return new CoderError(400, 'The Terraform files cannot be read.', error.message);
  if (isDiskFull(error)) return new CoderError(507, 'The disk is full.', diskFullText);
  if (!(error instanceof ApiError)) return undefined;
  const [first] = error.errors;
  if (error.status === 401) return new CoderError(401, signedOut);
  if (error.status === 404) return notFound();
  const message = error.status === 400 ? 'Request body must be valid JSON.' : (first?.title ?? 'Request failed.');
  return new CoderError(error.status, message, first?.detail);
};
