import type { OpenChange } from '../apply-progress.ts';
import type { Artifact, PhaseReport } from '../phase-report.ts';
import type { PhaseName } from '../run.ts';
import type { BackedCredential, Signed } from './credential.ts';

/**
 * The protocol between a runner and the control plane: JSON over HTTPS below `<STEPFORM_URL>/runner/v1`.
 *
 * A runner starts with a single-use claim (environment `STEPFORM_CLAIM`), exchanges it for a job with a short-lived
 * token for one run and phase, and the token permits nothing else. A repeated call has no further effect.
 *
 * | call | body → answer |
 * |---|---|
 * | `GET /program/{name}` (no token) | → 302 to this program; 404 if the runners' image contains it |
 * | `POST /ready` (no token) | {@link ReadyRequest} → {@link ReadyAnswer}; 410 when another runner has registered, or there is no such runner |
 * | `POST /claim` (no token) | {@link ClaimRequest} → {@link Job}; 410 when another runner has claimed it or the run has ended |
 * | `POST /kept-state` (no token) | {@link KeptStateRequest} → {@link KeptStateAnswer}; 403 for a file that no runner of this platform wrote |
 * | `POST /log?offset=N` | raw bytes (≤ 64 KiB) at that offset → {@link Heartbeat} |
 * | `POST /heartbeat` | {@link HeartbeatRequest} or – → {@link Heartbeat}; with `?renew=errored-state` also a new URL for that upload |
 * | `POST /uploads` | {@link UploadsRequest} → {@link UploadsAnswer} |
 * | `POST /providers` | {@link ProvidersRequest} → {@link ProvidersAnswer}: packages that the platform has cached |
 * | `POST /state-versions` | {@link StateVersionRequest} → {@link StateVersionAnswer}; a small state is in the request |
 * | `POST /state-versions/{id}/complete` | – → `{}` once the uploaded content is verified and current |
 * | `POST /errored-state` | – → {@link ErroredStateAnswer}: the upload URL for a state that was rejected as the workspace's state |
 * | `POST /report` | {@link ReportRequest} → {@link ReportAnswer} |
 *
 * All but `ready`, `claim` and `kept-state` send `Authorization: Bearer <token>`. 401 or 410: the token is invalid; stop Terraform at once and exit.
 * Any other 4xx is a defect; 5xx and connection errors are retried with backoff.
 */

export type { Artifact, PhaseName, PhaseReport };

/** Uploads that continue after the phase was reported and its token expired. */
export type DeferredUpload = 'provider-schemas' | 'state-json';

/** Poll of a runner that is ready for a phase. */
export interface ReadyRequest {
  /**
   * Of a warm runner, which is started before a run needs it: its `STEPFORM_CLAIM`, `warm-….<secret>`. Of a plan's
   * runner: `<run>.apply`.
   */
  claim: string;
  /**
   * Chosen by the runner: 32 random bytes in base64url. The platform accepts the first key of a warm runner, and the key
   * in the report of a plan's runner. It becomes the claim of the phase.
   */
  key: string;
}

/** `wait`: at most so long until the next poll. `claim`: the runner presents it with its key, `<claim>.<key>`. */
export type ReadyAnswer = { action: 'wait'; afterMs: number } | { action: 'claim'; claim: string } | { action: 'exit' };

export interface ClaimRequest {
  claim: string;
  /** Chosen by the runner, so that it can repeat a claim whose response was lost. */
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
    /** The plan only invokes this action (Terraform 1.14). */
    invokeActionAddrs?: string[];
    allowConfigGeneration: boolean;
    debug: boolean;
    /** The run only assesses health; failed checks are a finding. */
    assesses?: boolean;
    /** The run executes the tests of a module, and plans nothing. */
    tests?: { filters: string[]; directory: string; verbose: boolean; parallelism?: number };
    /** The run searches for unmanaged resources, and plans nothing. */
    queries?: { generatesConfiguration: boolean };
  };
  /** The log contains Terraform's JSON UI lines instead of text. */
  structuredOutput: boolean;
  /** No command line renders its plan, so that nothing waits for the providers' schemas. */
  withoutSchemas?: true;
  /** For Terraform itself: reads, from the public API, the state of workspaces that share it. */
  stateToken: string;
  /** Presigned GET of the configuration archive (gzip tar). */
  configurationUrl: string;
  /** Presigned GET of the current state; null when there is none. */
  stateUrl: string | null;
  /** Presigned GET of the `plan` artifact; set only for an apply by a runner that did not make the plan. */
  planUrl: string | null;
  /**
   * Checksums of the content behind those URLs: `sha256:<hex>` or `md5:<hex>`. The runner rejects other content, and
   * content without a checksum.
   */
  checksums: { configuration: string; state?: string; plan?: string };
  /** Presigned PUTs for the artifacts of nearly every phase. A phase that outlasts them requests new ones. */
  uploadUrls?: UploadsAnswer['urls'];
  /** Maximum number of bytes of artifacts that the report can contain; absent: none. */
  enclosedBytes?: number;
  /** Presigned PUT for a state that was rejected as the workspace's state; null for a plan. */
  erroredStateUrl: string | null;
  /** Encrypts a state that could not be stored; null for a plan. */
  keptStateKey: KeptStateKey | null;
  /** In rising precedence; a later entry of the same category and key wins. */
  variables: JobVariable[];
  /** Configurations of providers, at most one for each; absent: none. */
  providerSets?: JobProviderSet[];
  /** Private key to fetch modules from Git repositories; absent: none. */
  sshKey?: string;
  /** `TFC_RUN_ID` and similar variables. */
  environment: Record<string, string>;
  /** Registries whose providers the platform shares between runs; absent: none. */
  sharedProviderHosts?: string[];
  /** Identity of Terraform towards other services; absent unless the variables configure one. */
  identity?: {
    credentials: Signed[];
    /** Credentials that Vault issues, once the run has its Vault token. */
    backed: BackedCredential[];
    /** Message for users: why the configured identity is unavailable. Terraform is not started. */
    problem?: string;
  };
  /** Maximum interval between heartbeats. */
  heartbeatSeconds: number;
  /**
   * Set when the platform cannot stop the runner from outside: the runner ends by itself after this long without an
   * answer to its heartbeats.
   */
  silentSeconds?: number;
  limits: { configurationBytes: number; unpackedBytes: number; files: number; logBytes: number };
}

/** A provider configuration of the organization. */
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

/** Sent while Terraform stops, when it has changed. */
export interface HeartbeatRequest {
  /** Changes that Terraform finishes first; at most {@link maxOpenChanges}. */
  open: OpenChange[];
}
export const maxOpenChanges = 20;

export interface Heartbeat {
  /** `interrupt`: interrupt Terraform like Ctrl-C and report `canceled`; `kill`: end it at once. */
  signal: 'continue' | 'interrupt' | 'kill';
  /** Presigned PUT that replaces the job's, if the heartbeat requested one. */
  erroredStateUrl?: string;
}

export type ReportRequest = PhaseReport & {
  /** Small artifacts, in base64, {@link maxEnclosedBytes} together. */
  enclosed?: Partial<Record<Artifact, string>>;
  /** Of a plan's runner that can apply its plan: {@link ReadyRequest}. */
  key?: string;
};

export const maxEnclosedBytes = 256 * 1024;

export interface UploadsRequest {
  artifacts: Artifact[];
}
export interface UploadsAnswer {
  /** Presigned PUT URLs by artifact, valid for a minute and for one upload: with `if-none-match: *`. */
  urls: Partial<Record<Artifact, string>>;
}

/** As in Terraform's lock file. */
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
  /** Hex. The runner rejects content whose hash is not in the run's lock file, regardless of this value. */
  sha256: string;
}

export interface ProvidersAnswer {
  /** The available packages; Terraform installs the others itself. */
  providers: SharedProvider[];
}

export interface StateVersionRequest {
  serial: number;
  lineage: string;
  /** Hex MD5 of the raw state. */
  md5: string;
  /** Hex; set for an uploaded state. */
  sha256?: string;
  size: number;
  /** A snapshot taken while Terraform still applies. */
  intermediate: boolean;
  /** The state itself in base64, when it has at most {@link maxInlineStateBytes}; a larger one is uploaded. */
  content?: string;
}
/** Below this size, sending the content is faster than the two round trips of an upload. */
export const maxInlineStateBytes = 256 * 1024;

/**
 * A snapshot of a large state as a difference (state-changes.ts): kept until a whole state follows, and applied if the
 * runner ends without one.
 */
export interface StateChangesRequest {
  /** Hex MD5 of the state before the changes, which the control plane has from the last call. */
  before: string;
  /** The first changes after a whole state. */
  first: boolean;
  /** Base64, of at most {@link maxInlineStateBytes}. */
  changes: string;
}

export interface StateVersionAnswer {
  id: string;
  /**
   * Presigned PUT that requires the announced SHA-256 (base64) as `x-amz-checksum-sha256`; null when it is stored
   * already.
   */
  uploadUrl: string | null;
  /** The request contained the content, which is verified and current. */
  complete?: true;
}

export interface ErroredStateAnswer {
  /** Presigned PUT. */
  uploadUrl: string;
}

export interface ReportAnswer {
  /** As the answer to a poll. */
  next: ReadyAnswer;
  /** Presigned PUTs. */
  laterUrls: Partial<Record<DeferredUpload, string>>;
}

export interface KeptStateKey {
  /** Base64 of 32 bytes. */
  key: string;
  /** Base64; the same key, encrypted so that only the platform can decrypt it. */
  sealed: string;
}

/**
 * A state that a runner kept (kept-state.ts). The program that finds its file sends this request until the platform has
 * the state.
 */
export interface KeptStateRequest {
  runId: string;
  /** As in the file. */
  sealed: string;
  /** Hex, of the whole file. */
  sha256: string;
}

/**
 * `wait`: the run has not ended; `upload`: send the file to this presigned PUT, which requires its SHA-256 (base64) as
 * `x-amz-checksum-sha256`, and repeat the request; `taken`: the file is not needed any more.
 */
export type KeptStateAnswer = { action: 'wait' } | { action: 'upload'; uploadUrl: string } | { action: 'taken' };
