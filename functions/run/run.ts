import type { AppliedChanges, OpenChange } from './apply-progress.ts';
import type { Checks, Overrides, Verdicts } from './check-record.ts';
import type { CostEstimate } from './cost-record.ts';
import type { Engine } from './engine.ts';

import type { ModuleTest } from './module-test-record.ts';
import type { PhaseReport } from './phase-report.ts';
import type { UnsavedState } from './state-identity.ts';
import type { PhaseStatus, RunStatus, Timestamp } from './status.ts';

export type PhaseName = 'plan' | 'apply';

/** The commit of a configuration, as reported by version control or the uploader (HCP API: ingress attributes). */
export interface Ingress {
  commitSha: string;
  commitMessage: string | null;
  commitUrl: string | null;
  branch: string | null;
  /** `owner/repository`. */
  identifier: string | null;
  cloneUrl: string | null;
  senderUsername: string | null;
  /** Set only for commits from a connection to version control, like the attributes below. */
  fromForge?: true;
  compareUrl?: string;
  onDefaultBranch?: boolean;
  tag?: string;
  pullRequest?: { number: number; url: string; title: string; body: string | null };
  senderAvatarUrl?: string;
  senderHtmlUrl?: string;
}

/** Creator of runs that version control starts; not a user of the platform. */
export const versionControl = 'vcs';

/** Creator of runs that destroy a workspace by its schedule (auto-destroy.ts). */
export const autoDestroy = 'auto-destroy';

/** Creator of runs that assess the health of a workspace (health.ts). */
export const healthAssessment = 'health-assessment';

const platformCreators = [versionControl, autoDestroy, healthAssessment];

/** Whether a run's creator is a user. */
export const isUser = (createdBy: string): boolean => !platformCreators.includes(createdBy);

/** Display name of the creator; for runs that version control starts, the committer's. */
export const nameOfCreator = ({ createdBy, ingress }: Pick<Run, 'createdBy' | 'ingress'>): string =>
  createdBy === versionControl ? (ingress?.senderUsername ?? createdBy) : createdBy;

export interface FetchRetry {
  /** For users: the forge's answer. */
  reason: string;
  nextAttemptAt: string;
}

/** One attempt to bring a workspace's infrastructure to its configuration. Contains ids and metadata, never files. */
export interface Run {
  id: string;
  organization: string;
  /** Its name when the run was created; absent if that was its first one. */
  organizationName?: string;
  workspaceId: string;
  workspaceName: string;
  /** Of its workspace when it was created, for cost reports. Absent for tests of modules. */
  projectId?: string;
  /** Consecutive within the workspace: the order of the queue and of lists. */
  number: number;
  configurationVersionId: string;
  /** The archive of the configuration when the run was created; absent if it was not uploaded yet. */
  archive?: { key: string; sha256: string };
  /** Commit of its configuration, if any. */
  ingress?: Ingress;
  status: RunStatus;
  statusTimestamps: Record<string, Timestamp>;
  createdAt: Timestamp;
  createdBy: string;
  /** Its options (HCP API: runs, create), from here to `variables`, are frozen for its life. */
  message: string;
  isDestroy: boolean;
  refresh: boolean;
  refreshOnly: boolean;
  planOnly: boolean;
  savePlan: boolean;
  /** The run's own setting, otherwise the workspace's; false if a confirmation is required anyway. */
  autoApply: boolean;
  allowEmptyApply: boolean;
  allowConfigGeneration: boolean;
  debuggingMode: boolean;
  targetAddrs: string[] | null;
  replaceAddrs: string[] | null;
  /** The run only invokes this action of the configuration (one address); absent in other runs. */
  invokeActionAddrs?: string[];
  /** Run-specific variables; each value is an HCL expression. */
  variables: { key: string; value: string }[];
  /** API `source`: `tfe-api`, `tfe-ui`, `tfe-configuration-version`, `terraform+cloud`, `terraform`, `tfe-infrastructure-lifecycle`. */
  source: string;
  /** Name of the program that created it, for our own command line. */
  sourceName?: string;
  /** Queued by a run trigger; `via` has the ids of all workspaces in the chain of triggers, in order. */
  trigger?: { runId: string; workspaceId: string; workspaceName: string; via: string[] };
  /** The workspace's version when it was created; absent: the platform's default. */
  engine?: Engine;
  terraformVersion: string;
  workingDirectory: string;
  /**
   * Terraform's log consists of JSON UI lines instead of text: for runs that the cloud block created in a workspace
   * with structured output.
   */
  structuredOutput: boolean;
  /** Signs the URLs of both logs; clients send no token there (resources/runs/log-links.ts). */
  logSecret: string;
  /** Bucket key of the frozen variables, absent if there are none. */
  inputsKey?: string;
  /** Object key of its provider sets (resources/provider-sets/effective.ts). */
  providerSetsKey?: string;
  /**
   * The state in which the execution waits. `token`: the task token, which never leaves the control plane; if absent,
   * the stage's task results contain the tokens. `order`: the attempt that wrote it.
   */
  wait?: { state: string; token?: string; order?: string };
  /** Pool of the agents that execute its plan and apply; absent for the platform's own runners. */
  agentPool?: { id: string; name: string };
  /** The last failed attempt to fetch its commit, while it waits for the next one. */
  fetchRetry?: FetchRetry;
  /** Its runners need slots, because the operator limited their number when it was created (slots.ts). */
  limited?: true;
  /** The phase that last got a slot. */
  slot?: PhaseName;
  /** Commit on which its status is shown: the connection's token, the repository and the commit id. Absent: none. */
  commit?: { tokenId: string; identifier: string; sha: string };
  /** Its workspace has notification configurations. */
  notifies?: true;
  /** Time limits in seconds, if its organization sets them. */
  timeLimits?: Partial<Record<PhaseName, number>>;
  /**
   * The environment build or template version that it belongs to (functions/environments/): `build <id>`, `version
   * <id>`.
   */
  environment?: string;
  /** A stop of an environment that is started again afterwards. */
  restarts?: true;
  /**
   * A hidden run that assesses the health of its workspace, without number or place in the queue. `stateId`: id of the
   * assessed state version, empty for none. `outdated`: another state was uploaded meanwhile, and the result was
   * discarded.
   */
  assessment?: { stateId: string; outdated?: true };
  /** A hidden run of a module's tests; `workspaceId` is the module's id. */
  test?: ModuleTest;
  /** A hidden run that searches for unmanaged resources (Terraform: query). */
  query?: { generatesConfiguration: boolean };
  /** After success, sets the module version of its no-code workspace. */
  moduleUpgrade?: { version: string };
  /** The request that created it, for its span. Absent for a run that is not traced, or that the platform started by itself. */
  request?: { id: string; at: Timestamp; method: string; path: string; traceparent?: string };
  /** First characters of the SHA-256 of the request body that created it, if the request had an Idempotency-Key. */
  requestHash?: string;
  /** The run holds its workspace: set when it became the current run. */
  current?: boolean;
  /** Its place in the queue: microseconds since 1970, 0 at the front; absent while it is not in the queue. */
  place?: number;
  /** Without `by` it is the platform's decision, with a `reason` for users. */
  decision?: { action: 'apply' | 'discard'; by?: string; at: Timestamp; reason?: string };
  /**
   * `forceAvailableAt`: time from which a run that does not stop can be force-canceled. `open`: changes that Terraform
   * finishes before it stops, as last reported by the runner.
   */
  cancel?: {
    by: string;
    at: Timestamp;
    forceAvailableAt: Timestamp;
    forced?: { by: string; at: Timestamp };
    open?: OpenChange[];
  };
  plan: Phase;
  apply: Phase;
  /** Absent if the organization had no cost estimates when the run was created. */
  costEstimate?: CostEstimate;
  /** Its checks besides plan, confirmation and apply; fixed when it was created. Absent: none. */
  checks?: Checks;
  /** Results of its checks; absent if it has none. */
  verdicts?: Verdicts;
  overrides?: Overrides;
  /** The failed check and the reason, for users. */
  failure?: string;
  /** Names of the mandatory run tasks that failed it. */
  failedTasks?: string[];
  /**
   * The last state of its apply, if the workspace does not have it; found after the runner has stopped. No other run is
   * applied until a user resolves it. `stored`: users can download it (HCP API: applies, errored state). `copy`: part of
   * the object's key. `changes`: known changes of an apply whose state is lost.
   */
  unsaved?: UnsavedState & { stored: boolean; copy?: string; sha256?: string; changes?: AppliedChanges };
  /**
   * Users whose permission allows applying it without a confirmation; empty for a commit, where the workspace's setting
   * decides. Absent: it needs a confirmation.
   */
  appliesFor?: string[];
  /** Number of comments. */
  commentCount?: number;
  /** Reason for the run's ending, for users. */
  endReason?: string;
  /** Time in the sweep's index, at or before `checkAt`; absent while the run cannot get stuck. */
  dueAt?: Timestamp;
  /** Time of the sweep's next check, unless the run has progressed by then. */
  checkAt?: Timestamp;
}

/** Options of a run that its creator does not set (HCP API: runs, create). */
export const defaultOptions = {
  message: 'Queued manually via the Terraform Enterprise API',
  isDestroy: false,
  refresh: true,
  refreshOnly: false,
  planOnly: false,
  savePlan: false,
  allowEmptyApply: false,
  allowConfigGeneration: false,
  debuggingMode: false,
  targetAddrs: null as string[] | null,
  replaceAddrs: null as string[] | null,
  variables: [] as Run['variables'],
};

/** Whether the runner of the plan has the apply. */
export const hasPlanRunner = ({ plan, apply }: Run): boolean =>
  apply.taskId !== undefined && apply.taskId === plan.taskId;

/** A plan or an apply: the unit of work of a runner. */
export interface Phase {
  status: PhaseStatus;
  statusTimestamps: Record<string, Timestamp>;
  /** SHA-256 of the single-use claim a runner starts with. */
  claimHash?: string;
  /** Nonce of the runner that claimed it; a claim with the same nonce can be repeated. */
  claimNonce?: string;
  /**
   * SHA-256 of the token that Terraform sends to the public API, which is derived from the runner's token
   * (resources/runs/state-tokens.ts). Removed when the phase ends.
   */
  tokenHash?: string;
  /** The warm runner that is reserved for this phase: the hash of its key, which serves as the claim, and its ECS task. */
  reserved?: { keyHash: string; taskId: string };
  /** Id of the ECS task that executes it. */
  taskId?: string;
  /** Agent that took it from its pool's queue, and the deadline for its first request. */
  agent?: { id: string; name: string };
  takenUntil?: Timestamp;
  /** Set when the agent's runner has to stop. `killAt`: when to kill Terraform. `goneAt`: the runner has ended by then. */
  stop?: { killAt: Timestamp; goneAt: Timestamp };
  /** The plan's runner is ready for the apply, with its initialized directory, until this time. */
  ready?: { keyHash: string; until: Timestamp };
  /** For a saved plan: id of the state version that it is based on, empty for none. */
  basis?: string;
  /** Log and artifacts are hidden, or deleted (HCP API: plans, backing data). */
  content?: 'soft_deleted' | 'permanently_deleted';
  contentDeletedAt?: Timestamp;
  /** The runner's report; shown only once `status` is final. */
  report?: PhaseReport;
  /** Serial of the first snapshot of its state, until superseded ones are deleted (resources/states/snapshots.ts). */
  snapshotsFrom?: number;
  /** Snapshots exist that contain only differences of the workspace's state. */
  changesKept?: boolean;
  /** The whole log is one object in the bucket, written by the platform instead of a runner. */
  logStored?: boolean;
}

/** Name of the run's organization, for messages and links. */
export const organizationNameOf = ({
  organization,
  organizationName,
}: Pick<Run, 'organization' | 'organizationName'>): string => organizationName ?? organization;
