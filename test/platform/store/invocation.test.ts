import { createHash } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { expect, it, vi } from 'vitest';
import { asInvocation, invocation } from '#platform/store/invocation.ts';
import { logInfo, logWarning } from '#platform/store/log.ts';

const run = 'run-CZcmD7eagjhyX0vN';
const other = 'run-aaaaaaaaaaaaaaaa';
const traceOf = (id: string) => createHash('sha256').update(id).digest('hex').slice(0, 32);
const context = { awsRequestId: 'lambda-1' } as Context;

const http = (path: string, headers: Record<string, string> = {}) => ({
  headers,
  requestContext: { requestId: 'api-1', timeEpoch: 1000, http: { method: 'POST', path } },
});

const lineOf = async (event: unknown, log: () => void): Promise<Record<string, unknown>> => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await asInvocation(async () => log())(event, context);
    return JSON.parse(String(write.mock.calls[0]?.[0]));
  } finally {
    write.mockRestore();
  }
};

it.each([
  [{ runId: run }, 'lambda-1', run],
  [{ ending: 'Applied', run: { runId: run } }, 'lambda-1', run],
  [{ detail: { name: run } }, 'lambda-1', run],
  [http(`/api/v2/runs/${run}/actions/apply`), 'api-1', run],
  [http('/api/v2/runs'), 'api-1', undefined],
  [null, 'lambda-1', undefined],
])('a line logged for %j has the ids of its request and run', async (event, requestId, runId) => {
  const line = await lineOf(event, () => logWarning('careful'));
  const ids = { requestId, runId, traceId: runId && traceOf(runId) };
  expect(line).toEqual(
    JSON.parse(JSON.stringify({ timestamp: line.timestamp, level: 'warn', message: 'careful', ...ids })),
  );
});

it('a line that names a run has the ids of that run', async () => {
  const line = await lineOf({ runId: other }, () => logInfo('repaired', { item: `RUN#${run}` }));
  expect(line).toMatchObject({ level: 'info', runId: run, traceId: traceOf(run) });
});

it.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
  ['00-00000000000000000000000000000000-b7ad6b7169203331-01', false],
  ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', false],
  ['00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', false],
  ['ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', false],
  ['x', false],
])('the traceparent %s of a request is noted: %j', async (traceparent, isNoted) => {
  const request = await asInvocation(() => invocation()?.request)(http('/x', { traceparent }), context);
  expect(request).toEqual({
    id: 'api-1',
    at: '1970-01-01T00:00:01.000Z',
    method: 'POST',
    path: '/x',
    ...(isNoted ? { traceparent } : {}),
  });
});
