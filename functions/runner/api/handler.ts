import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as v from 'valibot';
import { claimPhase, NotStartedError, reportPhase, TokenRevokedError } from '#lifecycle/phases/phases.ts';
import { answerPlanRunner, answerReady } from '#lifecycle/runners/ready-runners.ts';
import { hashSecret } from '#platform/store/id.ts';
import { keepRunEvent } from '#resources/audit/records.ts';
import { deliver } from '#resources/runs/execution.ts';
import { pushIfFollowed } from '#resources/runs/log-followers.ts';
import { appendLog, maxPieceBytes } from '#resources/runs/logs.ts';
import { completeStateVersion, StateNotKeptError } from '#resources/states/finalize.ts';
import { getStateVersionOfRun } from '#resources/states/records.ts';
import { artifacts } from '#run/phase-report.ts';
import {
  type Heartbeat,
  type Job,
  maxProviders,
  type ProvidersAnswer,
  type ReadyAnswer,
  type ReportAnswer,
  type UploadsAnswer,
} from '#run/protocols/runner.ts';
import { shareProviders } from '#runner/shared-providers/answer.ts';
import { artifactUrls, downloadSeconds, laterUrls, leftStateUrl } from './addresses.ts';
import {
  authenticate,
  type Caller,
  ProtocolError,
  readsEventually,
  recordHeartbeat,
  recordOpenChanges,
} from './caller.ts';
import { storeEnclosed } from './enclosed.ts';
import { buildJob } from './job.ts';
import { keptState, takeKeptState } from './kept-states.ts';
import { leadToProgram, requestedProgram } from './program.ts';
import { bytesOf, parse, respond } from './protocol.ts';
import { heartbeat as heartbeatBody, key, report as reportBody } from './report.ts';
import { erroredState, stateChanges, stateVersion } from './states.ts';

/** The runner protocol (run/protocols/runner.ts documents each call). */

const bodies = {
  ready: v.object({
    claim: v.pipe(
      v.string(),
      v.regex(
        /^(warm-[A-Za-z0-9]{16}\.[A-Za-z0-9_-]{43}|run-[A-Za-z0-9]{16}\.apply)$/,
        'not the claim of a ready runner',
      ),
    ),
    key,
  }),
  claim: v.object({ claim: v.pipe(v.string(), v.maxLength(200)), nonce: v.pipe(v.string(), v.maxLength(100)) }),
  uploads: v.object({ artifacts: v.pipe(v.array(v.picklist(artifacts)), v.maxLength(artifacts.length)) }),
  providers: v.object({
    platform: v.pipe(v.string(), v.maxLength(40)),
    providers: v.pipe(
      v.array(
        v.object({ address: v.pipe(v.string(), v.maxLength(300)), version: v.pipe(v.string(), v.maxLength(100)) }),
      ),
      v.maxLength(maxProviders),
    ),
  }),
  heartbeat: heartbeatBody,
  report: reportBody,
};

type Event = APIGatewayProxyEventV2;

const ready = async (event: Event): Promise<ReadyAnswer> => {
  const { claim, key } = parse(bodies.ready, event);
  const answer = await answerReady(claim, key);
  if (!answer) throw new ProtocolError(410, 'claim rejected: another runner has registered with it, or it is unknown');
  return answer;
};

/** Resumes the execution, because work begins, and builds the runner's job. */
const claim = async (event: Event): Promise<Job> => {
  const { claim, nonce } = parse(bodies.claim, event);
  const claimed = await claimPhase(claim, nonce);
  if (!claimed) throw new ProtocolError(410, 'claim rejected: the run has ended, or another runner has claimed it');
  const { run, phase, token } = claimed;
  const [job] = await Promise.all([
    buildJob(run, phase, token),
    deliver(run),
    phase === 'apply' ? keepRunEvent(run, 'applying') : undefined,
  ]);
  return job;
};

const log = async ({ run, phase }: Caller, event: Event) => {
  const offset = Number(event.queryStringParameters?.offset);
  const bytes = bytesOf(event);
  if (!Number.isSafeInteger(offset) || offset < 0) throw new ProtocolError(422, 'offset: not a byte offset');
  if (bytes.length > maxPieceBytes) throw new ProtocolError(413, `a log chunk can have at most ${maxPieceBytes} bytes`);
  if (bytes.length) {
    await appendLog(run.id, phase, offset, bytes);
    await pushIfFollowed(run);
  }
  return recordHeartbeat({ run, phase });
};

const uploads = async ({ run, phase }: Caller, event: Event): Promise<UploadsAnswer> => {
  const { artifacts } = parse(bodies.uploads, event);
  return { urls: await artifactUrls(run.id, phase, artifacts) };
};

const providers = async ({ run }: Caller, event: Event): Promise<ProvidersAnswer> => ({
  providers: await shareProviders(parse(bodies.providers, event), run.organization, downloadSeconds),
});

const report = async ({ run, phase, token }: Caller, event: Event): Promise<ReportAnswer> => {
  const { enclosed, key, ...report } = parse(bodies.report, event);
  await storeEnclosed({ run, phase, token }, { enclosed, artifacts: report.artifacts });
  const [reported, version] = await Promise.all([
    reportPhase(run, phase, report, key && hashSecret(key)),
    report.stateVersionId ? getStateVersionOfRun(report.stateVersionId, run.id) : undefined,
  ]);
  return {
    next: reported && key ? answerPlanRunner(reported, key) : { action: 'exit' },
    laterUrls: await laterUrls(run, phase, version),
  };
};

/** With `renew`, the response contains a new URL for the state that could not be stored. */
const heartbeat = async (caller: Caller, event: Event): Promise<Heartbeat> => {
  if (event.body) await recordOpenChanges(caller.run, parse(bodies.heartbeat, event).open);
  const { signal } = await recordHeartbeat(caller, { wake: true });
  const renews = caller.phase === 'apply' && event.queryStringParameters?.renew === 'errored-state';
  return renews ? { signal, erroredStateUrl: await leftStateUrl(caller.run) } : { signal };
};

/**
 * Rejects all calls but a repeated report after the report: code that took over the runner's container must not change the results that
 * policies and users review.
 * @throws {ProtocolError} 410
 */
const checkPhase = ({ run, phase }: Caller, call: string): void => {
  if (!run[phase].report || call === 'report') return;
  throw new ProtocolError(410, 'token expired: its phase was already reported');
};

const route = async (event: Event): Promise<unknown> => {
  const call = event.rawPath.replace(/^\/runner\/v1\//, '');
  if (event.requestContext.http.method !== 'POST') throw new ProtocolError(405, 'method not allowed: use POST');
  if (call === 'ready') return ready(event);
  if (call === 'claim') return claim(event);
  if (call === 'kept-state') return takeKeptState(parse(keptState, event));
  const caller = await authenticate(event.headers.authorization, { eventually: readsEventually(call) });
  checkPhase(caller, call);
  const completed = /^state-versions\/([^/]+)\/complete$/.exec(call)?.[1];
  if (completed) {
    await completeStateVersion(completed, { runId: caller.run.id });
    return {};
  }
  switch (call) {
    case 'log':
      return log(caller, event);
    case 'heartbeat':
      return heartbeat(caller, event);
    case 'uploads':
      return uploads(caller, event);
    case 'providers':
      return providers(caller, event);
    case 'state-versions':
      return stateVersion(caller, event);
    case 'state-changes':
      return stateChanges(caller, event);
    case 'errored-state':
      return erroredState(caller);
    case 'report':
      return report(caller, event);
    default:
      throw new ProtocolError(404, `unknown call: ${call}`);
  }
};

export const handler = async (event: Event): Promise<APIGatewayProxyStructuredResultV2> => {
  const name = requestedProgram(event);
  if (name) return leadToProgram(name);
  return respond(async () => {
    try {
      return await route(event);
    } catch (error) {
      if (error instanceof NotStartedError) throw new ProtocolError(503, 'the run is still being started: try again');
      if (error instanceof TokenRevokedError) throw new ProtocolError(410, error.message);
      throw error instanceof StateNotKeptError ? new ProtocolError(409, error.message) : error;
    }
  });
};
