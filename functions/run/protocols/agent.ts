/**
 * The protocol between an agent and the control plane: JSON over HTTPS below `<address>/agent/v1`, with
 * `Authorization: Bearer <token of the agent pool>`. Every call can be repeated.
 *
 * | call | body → answer |
 * |---|---|
 * | `POST /register` | {@link Registration} → {@link RegisteredAgent} |
 * | `POST /next` | {@link WorkRequest} → {@link NextWork}: a job of the pool, assigned to this agent, or how long to wait |
 * | `POST /ping` | {@link Ping} → {@link PingAnswer}: reports that the agent is alive, with its job, or that it ends |
 * | `POST /over` | {@link JobEnd} → `{}`: reports that the job's runner has ended |
 * | `POST /request` | {@link RequestPoll} → {@link NextRequest}: a request that the agent sends for the platform, or how long to wait |
 * | `POST /answer` | {@link RequestAnswer} → `{}`: the result of the request |
 *
 * The agent starts the runner with the job's claim; the runner exchanges it for its own token
 * (run/protocols/runner.ts). 401: the token is invalid. 403: the call is only for agents that execute runs, or only
 * for agents that forward requests. 410: register again. Any other 4xx is a defect; 429, 5xx and connection errors are
 * retried.
 */
import type { PhaseName } from '../run.ts';

export interface Registration {
  /** Chosen by the agent, for as long as it runs. */
  instance: string;
  name: string;
  /** Set by an agent that sends requests for the platform, and executes no runs (platform/net/forwarding/box.ts). */
  publicKey?: string;
}

export interface RegisteredAgent {
  /** Id of the agent. */
  agent: string;
  /** Name of its pool. */
  pool: string;
  organization: string;
  /** Maximum interval of pings; an agent without pings counts as lost. */
  pingSeconds: number;
  /** Origin of the platform's storage: the agent uploads downloaded content only there. */
  storage: string;
}

export interface WorkRequest {
  agent: string;
  name: string;
  /** If set, the call counts as a ping, which costs a write. */
  ping: boolean;
}

export interface AgentWork {
  runId: string;
  phase: PhaseName;
  /** Name of the workspace. */
  workspace: string;
  claim: string;
}

export type NextWork = { action: 'wait'; afterMs: number } | { action: 'work'; work: AgentWork };

export interface Ping {
  agent: string;
  job?: { runId: string; phase: PhaseName };
  ended?: 'exited' | 'errored';
}

export interface PingAnswer {
  /** The runner of the job hangs: it must be killed. */
  kill?: true;
}

export interface JobEnd {
  agent: string;
  job: { runId: string; phase: PhaseName };
  /** Message for users if the runner did not report: `exit code 1`. */
  why: string;
}

/** Poll of an agent that registered with a public key. */
export interface RequestPoll {
  agent: string;
  name: string;
  /** If set, the poll counts as a ping, which costs two writes. */
  publicKey?: string;
}

/** All values are base64; platform/net/forwarding/messages.ts defines the contents of the box. */
export interface TakenRequest {
  id: string;
  box: string;
  sender: string;
  key: string;
}

export type NextRequest = { action: 'wait'; afterMs: number } | { action: 'forward'; request: TakenRequest };

export interface RequestAnswer {
  agent: string;
  id: string;
  box: string;
}
