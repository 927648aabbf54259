import type { AppliedChanges, OpenChange } from './apply-progress.ts';
import type { Checks, Overrides, Verdicts } from './check-record.ts';
import type { CostEstimate } from './cost-record.ts';
import type { Engine } from './engine.ts';
import type { HealthFacts } from './health-record.ts';
import type { ModuleTest, TestFacts } from './module-test-record.ts';
import type { UnsavedState } from './state-identity.ts';
import type { PhaseStatus, RunStatus, Timestamp } from './status.ts';

export type PhaseName = 'plan' | 'apply';

/** The commit a configuration was made from, as version control or its uploader said (HCP API: ingress attributes). */
export interface Ingress {
  commitSha: string;
  commitMessage: string | null;
  commitUrl: string | null;
  branch: string | null;
  /** `owner/repository`. */
  identifier: string | null;
  cloneUrl: string | null;
  senderUsername: string | null;
  /** Set only for commits from a connection to version control, like all that follows. */
  fromForge?: true;
  compareUrl?: string;
  onDefaultBranch?: boolean;
  tag?: string;
  pullRequest?: { number: number; url: string; title: string; body: string | null };
  senderAvatarUrl?: string;
  senderHtmlUrl?: string;
}

/** Creator of runs that version control starts: not a user of the platform. */
export const versionControl = 'vcs';

/** Creator of runs that destroy a workspace by its schedule (auto-destroy.ts). */
export const autoDestroy = 'auto-destroy';

/** Creator of runs that assess the health of a workspace (health.ts). */
export const healthAssessment = 'health-assessment';

const platformCreators = [versionControl, autoDestroy, healthAssessment];

/** Whether a run's creator is a user. */
export const isUser = (createdBy: string): boolean => !platformCreators.includes(createdBy);

/** Display name of a creator without a user: the committer. */
export const nameOfCreator = ({ createdBy, ingress }: Pick<Run, 'createdBy' | 'ingress'>): string =>
  createdBy === versionControl ? (ingress?.senderUsername ?? createdBy) : createdBy;

/** One attempt to bring a workspace's infrastructure to its configuration. Holds ids and facts, never content. */
export interface Run extends RunOptions {
  id: string;
  organization: string;
  workspaceId: string;
  workspaceName: string;
  /** Consecutive within the workspace: the order of the queue and of lists. */
  number: number;
  configurationVersionId: string;
  /** That configuration as it was when the run was created; absent when it was not uploaded yet. */
  archive?: { key: string; sha256?: string };
  /** Of its configuration, if that has any. */
  ingress?: Ingress;
  status: RunStatus;
  statusTimestamps: Record<string, Timestamp>;
  createdAt: Timestamp;
  createdBy: string;
  /** API `source`: `tfe-api`, `tfe-ui`, `tfe-configuration-version`, `terraform+cloud`, `terraform`, `tfe-infrastructure-lifecycle`. */
  source: string;
  /** The program that created it, where that is our own command line. */
  sourceName?: string;
  /** Queued by a run trigger; `via` has the ids of all workspaces that led here, the first first. */
  trigger?: { runId: string; workspaceId: string; workspaceName: string; via: string[] };
  /** The workspace's version when it was created; absent: the platform's default. */
  engine?: Engine;
  terraformVersion: string;
  workingDirectory: string;
  /** Emit Terraform's JSON UI lines instead of text: created by the cloud block in a workspace with structured output. */
  structuredOutput: boolean;
  /** Signs the URLs of both logs; clients send no token there (resources/runs/log-links.ts). */
  logSecret: string;
  /** Bucket key of the frozen variables, absent if there are none. */
  inputsKey?: string;
  /** Object with the provider sets that it has (resources/provider-sets/effective.ts). */
  providerSetsKey?: string;
  /**
   * What the execution waits for. The task token never leaves the control plane. Without one, the tokens are those of
   * the task results of the stage. `order`: which attempt wrote it.
   */
  wait?: { state: string; token?: string; order?: string };
  /** Pool of the agents that execute its plan and apply; absent for the platform's own runners. */
  agentPool?: { id: string; name: string };
  /** The commit whose status it sets: the connection's token, repository and id of the commit; absent for others. */
  commit?: { tokenId: string; identifier: string; sha: string };
  /** Its workspace has notification configurations. */
  notifies?: true;
  /** Time limits in seconds, where its organization has its own. */
  timeLimits?: Partial<Record<PhaseName, number>>;
  /**
   * The environment build or template version that it is for (functions/environments/): `build <id>`, `version <id>`.
   */
  environment?: string;
  /**
   * It is a hidden run that assesses the health of its workspace, without number or place in the queue. `stateId`: of
   * the state version it looks at, empty for none. `outdated`: another one was uploaded meanwhile, and the result was
   * discarded.
   */
  assessment?: { stateId: string; outdated?: true };
  /** It runs the tests of a module, whose id is in place of a workspace's; hidden like an assessment. */
  test?: ModuleTest;
  /** It looks for resources that are not managed yet (Terraform: query); hidden like an assessment. */
  query?: { generatesConfiguration: boolean };
  /** Gives its workspace this version of the module that it was made from, once it has ended well. */
  moduleUpgrade?: { version: string };
  /** Of the body that created it, when that came with an Idempotency-Key: the first characters of its SHA-256. */
  requestHash?: string;
  /** It holds its workspace: set when it became the current run. */
  current?: boolean;
  /** Its place in the queue: microseconds since 1970, 0 at the front; absent while it takes no part in the queue. */
  place?: number;
  /** Without `by` it is the platform's decision, with a `reason` for people. */
  decision?: { action: 'apply' | 'discard'; by?: string; at: Timestamp; reason?: string };
  /**
   * `forceAvailableAt`: when a run that does not stop may be force-canceled. `open`: what Terraform finishes before it stops,
   * as its runner last said.
   */
  cancel?: { by: string; at: Timestamp; forceAvailableAt: Timestamp; forced?: boolean; open?: OpenChange[] };
  plan: Phase;
  apply: Phase;
  /** Absent when the organization had no cost estimates as the run was created. */
  costEstimate?: CostEstimate;
  /** Its checks besides plan, confirmation and apply; fixed when it was created. Absent: none. */
  checks?: Checks;
  /** Results of its checks; present once it has checks. */
  verdicts?: Verdicts;
  overrides?: Overrides;
  /** Which check failed it, and why, for people. */
  failure?: string;
  /**
   * The last state that its apply recorded and its workspace does not have, found after its runner had stopped:
   * nothing else is applied until a person decides about it. `stored`: users can download it (HCP API: applies,
   * errored state), by its `copy` and with its SHA-256. `changes`: what is known of a lost state's apply.
   */
  unsaved?: UnsavedState & { stored: boolean; copy?: string; sha256?: string; changes?: AppliedChanges };
  /**
   * Users by whose permission to apply it may be applied without a confirmation; none of them for a commit, which the
   * workspace's setting decides about. Absent: a person has to confirm.
   */
  appliesFor?: string[];
  /** How many comments were made on it. */
  commentCount?: number;
  /** Why the run ended as it did, for people. */
  endReason?: string;
  /** Place in the index of what the sweep looks at, at or before `checkAt`; absent while nothing can get stuck. */
  dueAt?: Timestamp;
  /** When the sweep should look at this run unless it has moved on by then. */
  checkAt?: Timestamp;
}

/** Options of a new run (HCP API: runs, create). Frozen for the life of the run. */
export interface RunOptions {
  message: string;
  isDestroy: boolean;
  refresh: boolean;
  refreshOnly: boolean;
  planOnly: boolean;
  savePlan: boolean;
  /** The run's own setting, else the workspace's; false where a person has to confirm anyway. */
  autoApply: boolean;
  allowEmptyApply: boolean;
  allowConfigGeneration: boolean;
  debuggingMode: boolean;
  targetAddrs: string[] | null;
  replaceAddrs: string[] | null;
  /** Run-specific variables; each value is an HCL expression. */
  variables: { key: string; value: string }[];
}

/** A plan or an apply: one piece of work for one runner. */
export interface Phase {
  status: PhaseStatus;
  statusTimestamps: Record<string, Timestamp>;
  /** SHA-256 of the single-use claim a runner starts with. */
  claimHash?: string;
  /** Nonce of the runner that claimed it; the same nonce may claim again. */
  claimNonce?: string;
  /** SHA-256 of the phase's token. Gone when the phase is over. */
  tokenHash?: string;
  /** SHA-256 of the token that Terraform sends to the public API (resources/runs/state-tokens.ts). */
  stateTokenHash?: string;
  /** The ready runner that it was offered to: its key, as a claim, and its ECS task. */
  warm?: { keyHash: string; taskArn: string };
  /** ECS task that works on it. */
  taskArn?: string;
  /** Agent that took it from its pool's queue, and the deadline for its first request. */
  agent?: { id: string; name: string };
  takenUntil?: Timestamp;
  /** The agent's runner was told to stop: when it is told to kill Terraform, and when it is gone in any case. */
  stop?: { killAt: Timestamp; goneAt: Timestamp };
  /** Until then the runner of the plan stands by with an initialized directory. */
  heldUntil?: Timestamp;
  /** Of a plan to be saved: id of the state version that it is made from, empty for none. */
  basis?: string;
  /** The apply was offered to the runner that made the plan. */
  offeredAt?: Timestamp;
  /** Log and artifacts are hidden, or deleted (HCP API: plans, backing data). */
  content?: 'soft_deleted' | 'permanently_deleted';
  contentDeletedAt?: Timestamp;
  /** What the runner reported; shown only once `status` is final. */
  report?: PhaseReport;
  /** Serial of the first snapshot of its state, until superseded ones are deleted (resources/states/snapshots.ts). */
  snapshotsFrom?: number;
  /** There are snapshots that tell what has changed in the workspace's state. */
  changesKept?: boolean;
  /** The whole log is one object in the bucket that the platform put there, not a runner. */
  logStored?: boolean;
}

export interface PhaseReport {
  outcome: 'finished' | 'errored' | 'canceled';
  /** One or two sentences for people when it is not `finished`. */
  message?: string;
  hasChanges?: boolean;
  resourceAdditions?: number;
  resourceChanges?: number;
  resourceDestructions?: number;
  resourceImports?: number;
  generatedConfiguration?: boolean;
  /** Of a plan: why its file could not be compared with its JSON. Policies judge no such plan. */
  uncompared?: string;
  /** Of the Terraform or OpenTofu that planned; the run may only have a constraint. */
  terraformVersion?: string;
  /** Which artifacts were uploaded. */
  artifacts?: Artifact[];
  /** Hex SHA-256 of each, to verify that what is read later is what was reported. */
  checksums?: Partial<Record<Artifact, string>>;
  /** Milliseconds by step, e.g. `{download, init, plan, show, upload}`. */
  timings?: Record<string, number>;
  stateVersionId?: string;
  /** For people: why the newest state of an apply is not the workspace's, and where it is. */
  stateProblem?: string;
  /** That state. */
  unsavedState?: Omit<UnsavedState, 'runId'>;
  /**
   * Terraform was ended while it applied: the addresses that it was at work on, as far as it named them. What became of
   * them is in no state.
   */
  unrecorded?: string[];
  /** The platform wrote this report: the runner ended without one. */
  lost?: true;
  /** Of a plan: instances of managed resources once it is applied. */
  resourcesAfter?: number;
  /** Of an assessment. */
  health?: HealthFacts;
  /** Of a test run whose Terraform came to an end. */
  tests?: TestFacts;
}

/**
 * What a runner may upload for its phase. `plan` is a gzip tar of the plan file and the dependency lock file,
 * enough for another runner to apply it.
 */
export const artifacts = [
  'plan',
  'plan-json',
  'plan-json-redacted',
  'provider-schemas',
  'log',
  'generated-configuration',
] as const;

export type Artifact = (typeof artifacts)[number];
