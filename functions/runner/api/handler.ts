import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as v from 'valibot';
import {
  type Claimed,
  claimHeldApply,
  claimPhase,
  extendHold,
  NotStartedError,
  reportPhase,
  TokenRevokedError,
} from '#lifecycle/phases/phases.ts';
import { type HandedOver, handOver } from '#lifecycle/runners/hand-over.ts';
import { answerWarmRunner } from '#lifecycle/runners/warm-offers.ts';
import { environment } from '#platform/environment.ts';
import { keepRunEvent } from '#resources/audit/records.ts';
import { deliver } from '#resources/runs/execution.ts';
import { pushIfFollowed } from '#resources/runs/log-followers.ts';
import { appendLog, maxPieceBytes } from '#resources/runs/logs.ts';
import { getRunEventually } from '#resources/runs/records.ts';
import { completeStateVersion, StateNotKeptError } from '#resources/states/finalize.ts';
import { getStateVersionOfRun } from '#resources/states/records.ts';
import { isAboutToApply } from '#run/lifecycle.ts';
import {
  type Heartbeat,
  type Job,
  maxProviders,
  type NextAnswer,
  type ProvidersAnswer,
  type ReadyAnswer,
  type ReportAnswer,
  type UploadsAnswer,
} from '#run/protocols/runner.ts';
import { artifacts, type Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
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
import { heartbeat as heartbeatBody, report as reportBody } from './report.ts';
import { erroredState, stateChanges, stateVersion } from './states.ts';

/** The runner protocol (run/protocols/runner.ts documents each call). */

const bodies = {
  ready: v.object({
    claim: v.pipe(v.string(), v.regex(/^warm-[A-Za-z0-9]{16}\.[A-Za-z0-9_-]{43}$/, 'not the claim of a warm runner')),
    key: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url')),
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
  const answer = await answerWarmRunner(claim, key);
  if (!answer) throw new ProtocolError(410, 'claim rejected: another runner has registered with it, or it is unknown');
  return answer;
};

const claim = async (event: Event): Promise<Job> => {
  const { claim, nonce } = parse(bodies.claim, event);
  const claimed = await claimPhase(claim, nonce);
  if (!claimed) throw new ProtocolError(410, 'claim rejected: the run has ended, or another runner has claimed it');
  return begin(claimed, { handedOver: false });
};

/** Resumes the execution, because work begins, and builds the runner's job. */
const begin = async (claimed: Claimed | HandedOver, { handedOver }: { handedOver: boolean }): Promise<Job> => {
  const { run, phase, token } = claimed;
  const [job] = await Promise.all([
    buildJob(run, phase, token, { handedOver, ...('workspace' in claimed ? { workspace: claimed.workspace } : {}) }),
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
  const { enclosed, ...report } = parse(bodies.report, event);
  const unverifiable = report.artifacts?.find((artifact) => !report.checksums?.[artifact]);
  if (unverifiable) throw new ProtocolError(422, `checksums: the SHA-256 of the ${unverifiable} is missing`);
  await storeEnclosed({ run, phase, token }, { enclosed, checksums: report.checksums });
  const holdSeconds = run.agentPool ? 0 : environment.holdSeconds;
  const apply = phase === 'plan' && holdSeconds > 0 ? await handOver(run, report, token) : undefined;
  if (apply) {
    const [job, urls] = await Promise.all([begin(apply, { handedOver: true }), laterUrls(run, phase, undefined)]);
    return { next: 'hold', job, laterUrls: urls };
  }
  const [reported, version] = await Promise.all([
    reportPhase(run, phase, report, holdSeconds),
    report.stateVersionId ? getStateVersionOfRun(report.stateVersionId, run.id) : undefined,
  ]);
  const [following, urls] = await Promise.all([
    reported ? awaitOffer(reported).then((current) => next({ run: current, phase, token })) : undefined,
    laterUrls(run, phase, version),
  ]);
  if (following?.action === 'apply') return { next: 'hold', job: following.job, laterUrls: urls };
  return { next: following?.action === 'wait' ? 'hold' : 'exit', laterUrls: urls };
};

/** With `renew`, the response contains a new URL for the state that could not be stored. */
const heartbeat = async (caller: Caller, event: Event): Promise<Heartbeat> => {
  if (event.body) await recordOpenChanges(caller.run, parse(bodies.heartbeat, event).open);
  const { signal } = await recordHeartbeat(caller, { wake: true });
  const renews = caller.phase === 'apply' && event.queryStringParameters?.renew === 'errored-state';
  return renews ? { signal, erroredStateUrl: await leftStateUrl(caller.run) } : { signal };
};

/** Maximum wait for the state machine's next step. The pauses between reads grow. */
const maxWaitMs = 1000;
const firstPauseMs = 10;
const pauseGrowth = 1.5;

/** Answers a runner that stands by after its plan. */
const next = async ({ run, phase, token }: Caller): Promise<NextAnswer> => {
  const over = isFinal(run.status) || run.cancel || run.decision?.action === 'discard' || phase !== 'plan';
  const isClaimed = run.apply.claimHash !== undefined;
  if (over || isClaimed) return { action: 'exit' };
  if (run.apply.offeredAt) {
    const claimed = await claimHeldApply(run, token);
    return claimed ? { action: 'apply', job: await begin(claimed, { handedOver: true }) } : { action: 'exit' };
  }
  await extendHold(run);
  return { action: 'wait', afterMs: 0 };
};

/**
 * Waits up to 1 s for the state machine, so that the response to a report can contain the apply, and the runner does
 * not have to poll.
 */
const awaitOffer = async (run: Run): Promise<Run> => {
  let current = run;
  const end = Date.now() + maxWaitMs;
  for (let pause = firstPauseMs; isAwaitingOffer(current) && Date.now() + pause < end; pause *= pauseGrowth) {
    await sleep(pause);
    current = (await getRunEventually(run.id)) ?? current;
  }
  return current;
};

const isAwaitingOffer = (run: Run): boolean => !run.apply.offeredAt && !run.apply.claimHash && isAboutToApply(run);

/** Calls that are still allowed after the phase was reported. */
const afterReport = ['report', 'next'];

/**
 * Rejects other calls after the report: code that took over the runner's container must not change the results that
 * policies and users review.
 * @throws {ProtocolError} 410
 */
const checkPhase = ({ run, phase }: Caller, call: string): void => {
  if (!run[phase].report || afterReport.includes(call)) return;
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
    case 'next':
      return next({ ...caller, run: await awaitOffer(caller.run) });
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
