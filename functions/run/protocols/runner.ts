import type { OpenChange } from '../apply-progress.ts';
import type { Artifact, PhaseName, PhaseReport } from '../run.ts';
import type { BackedCredential, Signed } from './credential.ts';

/**
 * What a runner and the control plane say to each other: JSON over HTTPS below `<STEPFORM_URL>/runner/v1`.
 *
 * A runner starts with a single-use claim (environment `STEPFORM_CLAIM`), exchanges it for a job with a short-lived
 * token for one run and phase, and may do nothing else. Every call may be repeated: the second time changes nothing.
 *
 * | call | body → answer |
 * |---|---|
 * | `GET /program/{name}` (no token) | → 302 to this program; 404 where images have it |
 * | `POST /ready` (no token) | {@link ReadyRequest} → {@link ReadyAnswer}; 410 when another has registered, or it is none of ours |
 * | `POST /claim` (no token) | {@link ClaimRequest} → {@link Job}; 410 when claimed by another or the run has ended |
 * | `POST /kept-state` (no token) | {@link KeptStateRequest} → {@link KeptStateAnswer}; 403 for what no runner of this platform kept |
 * | `POST /log?offset=N` | raw bytes (≤ 64 KiB) at that offset → {@link Heartbeat} |
 * | `POST /heartbeat` | {@link HeartbeatRequest} or – → {@link Heartbeat}; with `?renew=errored-state` also a new address for that |
 * | `POST /uploads` | {@link UploadsRequest} → {@link UploadsAnswer} |
 * | `POST /providers` | {@link ProvidersRequest} → {@link ProvidersAnswer}: packages that the platform keeps |
 * | `POST /state-versions` | {@link StateVersionRequest} → {@link StateVersionAnswer}; a small state comes along |
 * | `POST /state-versions/{id}/complete` | – → `{}` once the uploaded content is verified and current |
 * | `POST /errored-state` | – → {@link ErroredStateAnswer}: where a state goes that cannot become the workspace's |
 * | `POST /report` | {@link ReportRequest} → {@link ReportAnswer} |
 * | `POST /next` | – → {@link NextAnswer}; only while held after a plan |
 *
 * All but `ready`, `claim` and `kept-state` send `Authorization: Bearer <token>`. 401 or 410: the token is dead; stop Terraform at once and exit.
 * Any other 4xx is a defect; 5xx and connection errors are retried with backoff.
 */

export type { Artifact, PhaseName, PhaseReport };

/** What is uploaded when the phase is reported and its token dead. */
export type DeferredUpload = 'provider-schemas' | 'state-json';

/** Of a runner that was started before a run needs it: `STEPFORM_CLAIM` is `warm-….<secret>` then. */
export interface ReadyRequest {
  claim: string;
  /** Chosen by the runner: 32 random bytes in base64url. The first one counts, and becomes the claim of its run. */
  key: string;
}

/** `claim`: to be presented with the key behind it, `<claim>.<key>`. */
export type ReadyAnswer = { action: 'wait'; afterMs: number } | { action: 'claim'; claim: string } | { action: 'exit' };

export interface ClaimRequest {
  claim: string;
  /** Chosen by the runner, so that a claim whose answer was lost can be repeated. */
  nonce: string;
}

export interface Job {
  runId: string;
  phase: PhaseName;
  token: string;
  organization: string;
  workspace: { id: string; name: string; workingDirectory: string };
  terraform: {
    engine: 'terraform' | 'tofu';
    /** Exact version, constraint, or `latest`. */
    version: string;
  };
  operation: {
    isDestroy: boolean;
    refresh: boolean;
    refreshOnly: boolean;
    targetAddrs: string[];
    replaceAddrs: string[];
    allowConfigGeneration: boolean;
    debug: boolean;
    /** It only looks at the health of what there is; checks that fail are a finding. */
    assesses?: boolean;
    /** It runs the tests of a module, and plans nothing. */
    tests?: { filters: string[]; directory: string; verbose: boolean; parallelism?: number };
    /** It looks for resources that are not managed yet, and plans nothing. */
    queries?: { generatesConfiguration: boolean };
  };
  /** Terraform's JSON UI lines instead of text in the log. */
  structuredOutput: boolean;
  /** No command line draws its plan, so that nothing waits for the providers' schemas. */
  withoutSchemas?: true;
  /** For Terraform itself: reads, from the public API, the state of workspaces that share theirs. */
  stateToken: string;
  /** Presigned GET of the configuration archive (gzip tar). */
  configurationUrl: string;
  /** Presigned GET of the current state; null when there is none. */
  stateUrl: string | null;
  /** Presigned GET of the `plan` artifact; only for an apply by a runner that did not make the plan. */
  planUrl: string | null;
  /**
   * Of what those lead to, as the control plane has recorded it: `sha256:<hex>` or `md5:<hex>`. Anything else is refused.
   * Absent for what a former version recorded without one.
   */
  checksums: { configuration?: string; state?: string; plan?: string };
  /** Presigned PUTs of what nearly every phase uploads, for one that takes no longer than they last: else asked for anew. */
  uploadUrls?: UploadsAnswer['urls'];
  /** So many bytes of artifacts may come with the report instead; absent: none. */
  enclosedBytes?: number;
  /** Presigned PUT for a state that cannot become the workspace's; null for a plan. */
  erroredStateUrl: string | null;
  /** Encrypts a state that could not be stored; null for a plan. */
  keptStateKey: KeptStateKey | null;
  /** In rising precedence; a later entry of the same category and key wins. */
  variables: JobVariable[];
  /** What configures providers, one for each; absent: nothing does. */
  providerSets?: JobProviderSet[];
  /** Private key that modules are fetched from Git repositories with; absent: none. */
  sshKey?: string;
  /** `TFC_RUN_ID` and its like. */
  environment: Record<string, string>;
  /** Registries whose providers the platform keeps for all runs; absent: none. */
  sharedProviderHosts?: string[];
  /** What Terraform identifies itself with to others; absent when the variables ask for nothing. */
  identity?: {
    credentials: Signed[];
    /** What Vault makes, once the run has a token of it. */
    backed: BackedCredential[];
    /** For people: why there are none although the variables ask for some. Terraform is not started. */
    problem?: string;
  };
  /** How often to call `heartbeat` at least. */
  heartbeatSeconds: number;
  /** Where nobody can stop the runner from outside: without an answer to its beats for so long, it ends by itself. */
  silentSeconds?: number;
  /** How long to stand by after a plan with something to apply; 0 = do not. */
  holdSeconds: number;
  limits: { configurationBytes: number; unpackedBytes: number; files: number; logBytes: number };
}

/** How a provider is configured, by the organization. */
export interface JobProviderSet {
  name: string;
  /** `registry.terraform.io/hashicorp/aws`, in lower case. */
  source: string;
  /** One provider block. */
  configuration: string;
  /** The block's label. */
  localName: string;
  /** Names of the variables that the block refers to. */
  variables: string[];
}

export interface JobVariable {
  key: string;
  value: string;
  category: 'terraform' | 'env';
  hcl: boolean;
  sensitive: boolean;
}

/** While Terraform stops, when it has changed. */
export interface HeartbeatRequest {
  /** What Terraform finishes first; at most {@link maxOpenChanges}. */
  open: OpenChange[];
}
export const maxOpenChanges = 20;

export interface Heartbeat {
  /** `interrupt`: stop Terraform as Ctrl-C does and report `canceled`; `kill`: end it at once. */
  signal: 'continue' | 'interrupt' | 'kill';
  /** Presigned PUT in place of the job's, in answer to a heartbeat that asks for it. */
  erroredStateUrl?: string;
}

/** With what is small enough to be stored on the way: artifacts in base64, {@link maxEnclosedBytes} together. */
export type ReportRequest = PhaseReport & { enclosed?: Partial<Record<Artifact, string>> };

export const maxEnclosedBytes = 256 * 1024;

export interface UploadsRequest {
  artifacts: Artifact[];
}
export interface UploadsAnswer {
  /** Presigned PUT URLs by artifact, good for a minute and once: with `if-none-match: *`. */
  urls: Partial<Record<Artifact, string>>;
}

/** As Terraform's lock file names it. */
export interface ProviderName {
  /** `registry.terraform.io/hashicorp/aws`, in lower case. */
  address: string;
  version: string;
}
export const maxProviders = 50;

export interface ProvidersRequest {
  /** `linux_arm64` */
  platform: string;
  /** At most {@link maxProviders}. */
  providers: ProviderName[];
}

export interface SharedProvider extends ProviderName {
  /** Presigned GET of the zip. */
  url: string;
  /** Hex. Content that the run's lock file does not have is not used, whatever is said here. */
  sha256: string;
}

export interface ProvidersAnswer {
  /** Those that are there; Terraform installs the others itself. */
  providers: SharedProvider[];
}

export interface StateVersionRequest {
  serial: number;
  lineage: string;
  /** Hex MD5 of the raw state. */
  md5: string;
  /** Hex, of one that is uploaded. */
  sha256?: string;
  size: number;
  /** A snapshot taken while Terraform still applies. */
  intermediate: boolean;
  /** The state itself in base64, when it has at most {@link maxInlineStateBytes}; a larger one is uploaded. */
  content?: string;
}
/** Twice the round trips of an upload take longer than so many bytes do. */
export const maxInlineStateBytes = 256 * 1024;

/**
 * A snapshot of a large state as what has changed in it (state-changes.ts): kept until a whole state follows, and applied
 * should the runner end without one.
 */
export interface StateChangesRequest {
  /** Hex MD5 of the state that they change: what the control plane has by the last call. */
  before: string;
  /** The first changes of a state that was stored as a whole. */
  first: boolean;
  /** Base64, of at most {@link maxInlineStateBytes}. */
  changes: string;
}

export interface StateVersionAnswer {
  id: string;
  /** Presigned PUT that wants the announced SHA-256 (base64) as `x-amz-checksum-sha256`; null when it is stored already. */
  uploadUrl: string | null;
  /** It came with its content, and is verified and current. */
  complete?: true;
}

export interface ErroredStateAnswer {
  /** Presigned PUT. */
  uploadUrl: string;
}

export interface ReportAnswer {
  next: 'hold' | 'exit';
  /** The apply of the plan that is reported, where nothing is to be waited for. */
  job?: Job;
  /** Presigned PUTs. */
  laterUrls: Partial<Record<DeferredUpload, string>>;
}

export type NextAnswer = { action: 'wait'; afterMs: number } | { action: 'apply'; job: Job } | { action: 'exit' };

export interface KeptStateKey {
  /** Base64 of 32 bytes. */
  key: string;
  /** Base64; the same key as only the platform can open it. */
  sealed: string;
}

/** A state that a runner kept (kept-state.ts); sent by who finds its file, again until it is taken. */
export interface KeptStateRequest {
  runId: string;
  /** As in the file. */
  sealed: string;
  /** Hex, of the whole file. */
  sha256: string;
}

/**
 * `wait`: the run has not ended; `upload`: send the file to this presigned PUT, which wants its SHA-256 (base64) as
 * `x-amz-checksum-sha256`, and ask again; `taken`: the file is not needed any more.
 */
export type KeptStateAnswer = { action: 'wait' } | { action: 'upload'; uploadUrl: string } | { action: 'taken' };
