import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { NestingError } from '#platform/formats/hcl.ts';
import { DamagedContentError } from '#platform/store/damaged-content.ts';
import { diskFullText, isDiskFull } from '#platform/store/disk-full.ts';
import { logError } from '#platform/store/log.ts';
import { FilterTooWideError } from '#platform/store/scan.ts';
import { ApiError, badRequest, conflict, unprocessable } from './errors.ts';

const internal = new ApiError(500, [
  {
    title: 'internal error',
    detail: 'Internal error. Try again; if it keeps failing, tell the operator of this platform.',
  },
]);

const diskFull = new ApiError(507, [{ title: 'insufficient storage', detail: diskFullText }]);

const tooWide = ({ looked }: FilterTooWideError): ApiError =>
  badRequest(
    `The filter matches too few entries of a long list: ${looked} entries were read without filling this page. Narrow it by name, workspace or time, or remove it.`,
    'filter',
  );

const apiErrorOf = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  if (error instanceof FilterTooWideError) return tooWide(error);
  if (error instanceof NestingError) return unprocessable('/data', error.message);
  if (isDiskFull(error)) return diskFull;
  return error instanceof DamagedContentError ? conflict(error.message) : internal;
};

/**
 * The error that the client sees. Details of internal errors appear only in the log: they can name records that the
 * caller may not see.
 */
export const reportedError = (error: unknown, { requestContext: { http } }: APIGatewayProxyEventV2): ApiError => {
  const reported = apiErrorOf(error);
  if (reported === internal || reported === diskFull || error instanceof DamagedContentError) {
    logError('request failed', error, { method: http.method, path: http.path });
  }
  return reported;
};
