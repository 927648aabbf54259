/**
 * What an agent and the control plane say to each other: JSON over HTTPS below `<address>/agent/v1`, with
 * `Authorization: Bearer <token of the agent pool>`. Every call may be repeated.
 *
 * | call | body → answer |
 * |---|---|
 * | `POST /register` | {@link Registration} → {@link RegisteredAgent} |
 * | `POST /next` | {@link WorkRequest} → {@link NextWork}: a job of the pool that is its own from now on, or how long to wait |
 * | `POST /ping` | {@link Ping} → {@link PingAnswer}: it lives, and whether it works; or ends |
 * | `POST /over` | {@link JobEnd} → `{}`: the runner that it has started has ended |
 * | `POST /request` | {@link RequestPoll} → {@link NextRequest}: a request that the agent sends for the platform, or how long to wait |
 * | `POST /answer` | {@link RequestAnswer} → `{}`: what came of it |
 *
 * The job comes with a claim, with which the agent starts the runner (run/protocols/runner.ts): that has a token of its own then,
 * and talks for itself. 401: the token is dead. 403: it is for agents of
 * the other kind. 410: register again. Any other 4xx is a defect; 429, 5xx and connection
 * errors are tried again.
 */
import type { PhaseName } from '../run.ts';

export interface Registration {
  /** Chosen by the agent, for as long as it runs. */
  instance: string;
  name: string;
  /** Of an agent that sends requests for the platform, and does no runs (platform/net/forwarding/box.ts). */
  publicKey?: string;
}

export interface RegisteredAgent {
  /** Id of the agent. */
  agent: string;
  /** Name of its pool. */
  pool: string;
  organization: string;
  /** How often to ping at least; without pings it counts as lost. */
  pingSeconds: number;
  /** Origin of the platform's storage: the only one that an agent uploads what it fetched to. */
  storage: string;
}

export interface WorkRequest {
  agent: string;
  name: string;
  /** Counts as a ping too, which costs a write. */
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
  /** For people, should the runner not have reported: `exit code 1`. */
  why: string;
}

/** Of an agent that registered with a public key. */
export interface RequestPoll {
  agent: string;
  name: string;
  /** Given, it counts as a ping too, which costs two writes. */
  publicKey?: string;
}

/** All of it base64; platform/net/forwarding/messages.ts is what is in the box. */
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
