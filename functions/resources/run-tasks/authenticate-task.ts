import { isTokenOf } from '#api/admission.ts';
import { secretOf } from '#api/bearer.ts';
import { unauthorized } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { getRun } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';
import { findResultOfAccessToken, type TaskResult } from './results.ts';

/**
 * The task result of the request's access token, and its run.
 * @throws {ApiError} 401
 */
export const authenticateTask = async (request: ApiRequest): Promise<{ result: TaskResult; run: Run }> => {
  const result = await findResultOfAccessToken(secretOf(request));
  const run = result && (await getRun(result.runId));
  if (!result || !run) throw unauthorized();
  isTokenOf(request.header('authorization'), result.id);
  return { result, run };
};
