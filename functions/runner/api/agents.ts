import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as v from 'valibot';
import { takeJob } from '#lifecycle/runners/agent-jobs.ts';
import { endPhase } from '#lifecycle/runners/lost-runners.ts';
import { isPublicKey } from '#platform/net/forwarding/box.ts';
import { maxPacked } from '#platform/net/forwarding/messages.ts';
import { keepAnswer, keepForwarder, removeForwarder, takeRequest } from '#platform/net/forwarding/records.ts';
import { bucketOrigin } from '#platform/store/bucket.ts';
import { type Agent, isOfPool, pingAgent, registerAgent } from '#resources/agents/agents.ts';
import { getAgentPool } from '#resources/agents/pools/records.ts';
import { permitsAgent } from '#resources/ip-allowlists/enforcement.ts';
import { currentName } from '#resources/organizations/records.ts';
import { getRun, getRunEventually } from '#resources/runs/records.ts';
import {
  type AgentPurpose,
  claimPurpose,
  findAgentToken,
  recordTokenUse,
  type Token,
} from '#resources/users/tokens.ts';
import { afterwardsMs, isHanging, pingSeconds, silentMs } from '#run/agents.ts';
import type { AgentWork, NextRequest, NextWork, PingAnswer, RegisteredAgent } from '#run/protocols/agent.ts';
import { isFinal } from '#run/status.ts';
import { ProtocolError } from './caller.ts';
import { parse, respond } from './protocol.ts';

/** The agent protocol (run/protocols/agent.ts documents each call). A token is valid for its pool only. */

type Event = APIGatewayProxyEventV2;

const id = v.pipe(v.string(), v.regex(/^agent-[A-Za-z0-9]{32}$/, 'is not an agent id'));
const name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(100), v.regex(/^[^\p{Cc}]*$/u));
const job = v.object({
  runId: v.pipe(v.string(), v.regex(/^run-[A-Za-z0-9]{16}$/)),
  phase: v.picklist(['plan', 'apply']),
});
const publicKey = v.optional(v.pipe(v.string(), v.maxLength(200), v.check(isPublicKey, 'is not an X25519 public key')));
const base64 = (maxBytes: number) =>
  v.pipe(
    v.string(),
    v.maxLength(Math.ceil(maxBytes / 3) * 4),
    v.regex(/^[A-Za-z0-9+/]*={0,2}$/, 'is not base64'),
    v.transform((text) => Buffer.from(text, 'base64')),
  );
const bodies = {
  register: v.object({ instance: v.pipe(v.string(), v.minLength(16), v.maxLength(100)), name, publicKey }),
  request: v.object({ agent: id, name, publicKey }),
  answer: v.object({
    agent: id,
    id: v.pipe(v.string(), v.regex(/^fwd-[A-Za-z0-9]{16}$/, 'is not the id of a request')),
    box: base64(maxPacked + 100),
  }),
  next: v.object({ agent: id, name, ping: v.boolean() }),
  ping: v.object({ agent: id, job: v.optional(job), ended: v.optional(v.picklist(['exited', 'errored'])) }),
  over: v.object({
    agent: id,
    job,
    why: v.pipe(
      v.string(),
      v.transform((text) => text.slice(0, 300)),
    ),
  }),
};

/** How long an agent without a job waits before it polls again. */
const askAfterMs = 5_000;

const addressOf = (event: Event): string | null => event.requestContext.http.sourceIp ?? null;

const forgotten = () => new ProtocolError(410, 'unknown agent: register again');

const registered = (agent: Agent | undefined): Agent => {
  if (!agent) throw forgotten();
  return agent;
};

const register = async (token: Token, event: Event): Promise<RegisteredAgent> => {
  const { instance, name: called, publicKey: key } = parse(bodies.register, event);
  const pool = await getAgentPool(token.userId);
  if (!pool) throw new ProtocolError(401, 'the agent pool of this token was deleted: use a token of another pool');
  const agent = await registerAgent(pool, { instance, name: called, address: addressOf(event) });
  if (key) await keepForwarder(pool.id, { id: agent.id, name: called, publicKey: key }, silentMs);
  return {
    agent: agent.id,
    pool: pool.name,
    organization: await currentName(pool.organization),
    pingSeconds,
    storage: bucketOrigin(),
  };
};

const next = async (token: Token, event: Event): Promise<NextWork> => {
  const { agent, name: called, ping } = parse(bodies.next, event);
  const address = addressOf(event);
  if (ping) registered(await pingAgent(agent, token.userId, { address }));
  const job = await takeJob({ id: agent, name: called, poolId: token.userId });
  if (!job) return { action: 'wait', afterMs: askAfterMs };
  const { run, phase, claim } = job;
  const work: AgentWork = { runId: run.id, phase, workspace: run.workspaceName, claim };
  // The job is already assigned to the agent. If the agent was forgotten, its next ping reports that.
  await pingAgent(agent, token.userId, { address, job: { runId: run.id, phase } });
  return { action: 'work', work };
};

/** 1 read while the agent works. */
const ping = async (token: Token, event: Event): Promise<PingAnswer> => {
  const { agent, ...state } = parse(bodies.ping, event);
  registered(await pingAgent(agent, token.userId, { address: addressOf(event), ...state }));
  if (state.ended && token.purpose === 'forwarding') await removeForwarder(token.userId, agent);
  const { job } = state;
  if (!job) return {};
  const [now, longAgo] = [0, afterwardsMs].map((ms) => new Date(Date.now() - ms).toISOString()) as [string, string];
  return isHanging(await getRunEventually(job.runId), job.phase, agent, { now, longAgo }) ? { kill: true } : {};
};

/** Accepted only from agents of the pool whose tokens are dedicated to forwarding. */
const request = async (token: Token, event: Event): Promise<NextRequest> => {
  const { agent, name: called, publicKey: key } = parse(bodies.request, event);
  if (key) {
    registered(await pingAgent(agent, token.userId, { address: addressOf(event) }));
    await keepForwarder(token.userId, { id: agent, name: called, publicKey: key }, silentMs);
  }
  const request = await takeRequest(token.userId, agent);
  if (!request) return { action: 'wait', afterMs: askAfterMs };
  const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('base64');
  const { id: requestId, box, sender, keys } = request;
  return { action: 'forward', request: { id: requestId, box: text(box), sender, key: text(keys[agent]) } };
};

const answered = async (token: Token, event: Event): Promise<object> => {
  const { id: requestId, box } = parse(bodies.answer, event);
  await keepAnswer(token.userId, requestId, box);
  return {};
};

/** The runner of the job has ended. If it did not report, its phase errors at once. */
const over = async (token: Token, event: Event): Promise<object> => {
  const { agent, job: done, why } = parse(bodies.over, event);
  const run = await getRun(done.runId);
  const phase = run?.[done.phase];
  const own = run?.agentPool?.id === token.userId && phase?.agent?.id === agent;
  // A job whose runner has not claimed it goes to another agent when its time is up.
  if (run && own && phase?.claimNonce && !phase.report && !isFinal(run.status)) await endPhase(run, done.phase, why);
  await pingAgent(agent, token.userId, { address: addressOf(event) });
  return {};
};

interface AgentCall {
  answer(token: Token, event: Event): Promise<object>;
  /** The purpose that the call requires of its token, if any. */
  purpose?(event: Event, token: Token): AgentPurpose;
}

/** A rejected request, or one from an agent outside the token's pool, does not determine the token's purpose. */
const purposeFor =
  (purpose: AgentPurpose, body: v.GenericSchema<unknown, { agent: string }>) =>
  (event: Event, { userId: poolId }: Token): AgentPurpose => {
    if (!isOfPool(parse(body, event).agent, poolId)) throw forgotten();
    return purpose;
  };

const calls: Record<string, AgentCall> = {
  register: {
    answer: register,
    purpose: (event) => (parse(bodies.register, event).publicKey ? 'forwarding' : 'runs'),
  },
  next: { answer: next, purpose: purposeFor('runs', bodies.next) },
  ping: { answer: ping },
  // The end of another agent's job is ignored, not rejected.
  over: {
    answer: over,
    purpose: (event) => {
      parse(bodies.over, event);
      return 'runs';
    },
  },
  request: { answer: request, purpose: purposeFor('forwarding', bodies.request) },
  answer: { answer: answered, purpose: purposeFor('forwarding', bodies.answer) },
};

const otherPurpose: Record<AgentPurpose, string> = {
  runs: 'this token belongs to agents that forward requests and cannot be used for runs: use another token of the pool',
  forwarding:
    'agents that run Terraform have used this token, and Terraform could have read it: create another token of the pool to forward requests',
};

/** @throws {ProtocolError} 403 */
const checkAddress = async ({ ipAllowlists, organization, userId }: Token, event: Event): Promise<void> => {
  if (ipAllowlists === undefined || organization === undefined) return;
  const address = addressOf(event) ?? undefined;
  if (await permitsAgent(organization, userId, address)) return;
  throw new ProtocolError(
    403,
    `the IP address of this agent${address ? `, ${address},` : ''} is in no IP allowlist of its pool: ask an owner of ${await currentName(organization)} to add it`,
  );
};

/** @throws {ProtocolError} 401 or 403 */
const authenticate = async (event: Event, purposeOf: AgentCall['purpose']): Promise<Token> => {
  const secret = event.headers.authorization?.replace(/^Bearer /i, '') ?? '';
  const token = await findAgentToken(secret);
  if (!token)
    throw new ProtocolError(401, 'the agent token is invalid, revoked or expired: create a new one in the agent pool');
  await checkAddress(token, event);
  const purpose = purposeOf?.(event, token);
  if (purpose && !(await claimPurpose(token, secret, purpose))) throw new ProtocolError(403, otherPurpose[purpose]);
  await recordTokenUse(token, secret).catch(() => {});
  return token;
};

const route = async (event: Event): Promise<object> => {
  const call = event.rawPath.replace(/^\/agent\/v1\//, '');
  if (event.requestContext.http.method !== 'POST') throw new ProtocolError(405, 'method not allowed: use POST');
  const agentCall = Object.hasOwn(calls, call) ? calls[call] : undefined;
  const token = await authenticate(event, agentCall?.purpose);
  if (!agentCall) throw new ProtocolError(404, `unknown call: ${call}`);
  return agentCall.answer(token, event);
};

export const handler = (event: Event): Promise<APIGatewayProxyStructuredResultV2> => respond(() => route(event));
