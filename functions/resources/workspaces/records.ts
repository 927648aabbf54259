import type { TeamAccess, WorkspaceGrant } from '#api/permissions/team-access.ts';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { countNames } from '#platform/store/name-index.ts';
import { batchGet, create, get, update, updateExisting } from '#platform/store/table.ts';
import { now, nowAfter } from '#platform/store/time.ts';
import { usePool, withPoolUse } from '#resources/agents/pools/uses.ts';
import type { Tag } from '#resources/projects/tags.ts';
import type { DataRetention } from '#run/data-retention-record.ts';
import type { Engine } from '#run/engine.ts';
import type { ExecutionMode } from '#run/execution-mode.ts';
import type { HealthResult } from '#run/health-record.ts';
import { startAutoDestroyTimer } from './auto-destroy.ts';
import { startHealthTimer } from './health-timer.ts';
import { withoutDefaults } from './left-out.ts';
import type { WorkspaceLock } from './lock-record.ts';
import type { MergeRequirement } from './merge-requirements.ts';
import { claimName, indexInProject, indexName, leaveProject, type NameEntry, nameEntry, releaseName } from './names.ts';
import type { SourceModule } from './source-module.ts';
import type { VcsRepo } from './vcs-repo-record.ts';

/** Attributes that users set (HCP API: workspaces). */
export interface WorkspaceSettings {
  description: string | null;
  executionMode: ExecutionMode;
  /** Pool whose agents carry out its runs; set with execution mode `agent` only. */
  agentPoolId?: string | null;
  /** Engine of its runs; null or absent: the platform's default. */
  engine?: Engine | null;
  /** Version of the engine: exact, a constraint, or `latest`. */
  terraformVersion: string;
  /** Relative to the root of the configuration; null is the root. */
  workingDirectory: string | null;
  autoApply: boolean;
  autoApplyRunTrigger: boolean;
  allowDestroyPlan: boolean;
  queueAllRuns: boolean;
  speculativeEnabled: boolean;
  /** Saves plans of pull requests, so that they can be applied before the merge. */
  applyBeforeMergeEnabled?: boolean;
  /** Requirements for a pull request to be applied. */
  applyBeforeMergeRequirements?: MergeRequirement[];
  structuredRunOutputEnabled: boolean;
  fileTriggersEnabled: boolean;
  triggerPrefixes: string[];
  triggerPatterns: string[];
  /** Every workspace of the organization may read the state. */
  globalRemoteState?: boolean;
  /** Every workspace of the project may read the state. */
  projectRemoteState?: boolean;
  assessmentsEnabled: boolean;
  sourceName?: string | null;
  sourceUrl?: string | null;
}

export const defaultSettings: WorkspaceSettings = {
  description: null,
  executionMode: 'remote',
  agentPoolId: null,
  engine: null,
  terraformVersion: 'latest',
  workingDirectory: null,
  autoApply: false,
  autoApplyRunTrigger: false,
  allowDestroyPlan: true,
  queueAllRuns: false,
  speculativeEnabled: true,
  applyBeforeMergeEnabled: false,
  applyBeforeMergeRequirements: [],
  structuredRunOutputEnabled: true,
  fileTriggersEnabled: true,
  triggerPrefixes: [],
  triggerPatterns: [],
  globalRemoteState: false,
  projectRemoteState: false,
  assessmentsEnabled: false,
  sourceName: null,
  sourceUrl: null,
};

export type { VcsRepo, WorkspaceLock };

export interface Workspace extends WorkspaceSettings, Edited {
  id: string;
  organization: string;
  name: string;
  projectId: string;
  /** UTC ISO 8601, as all times. */
  createdAt: string;
  updatedAt: string;
  /** Ordered by key, without duplicates. */
  tags: Tag[];
  /** It inherits its project's execution mode (execution-modes.ts). */
  inheritsExecutionMode?: boolean;
  /** Number of runs so far, which numbers them. */
  runCount: number;
  /** The last committed place in the queue, with its run (lifecycle/queue/places.ts). */
  place?: string;
  /** Number of plan-only runs, which lists leave out. */
  planOnlyCount?: number;
  /** Numbers created so far, for the totals of lists. */
  stateVersionCount?: number;
  configurationVersionCount?: number;
  lock?: WorkspaceLock;
  /**
   * Time of its automatic destruction, or its delay after the last state change; at most one is set
   * (auto-destroy.ts).
   */
  autoDestroyAt?: string | null;
  autoDestroyActivityDuration?: string | null;
  /** It inherits its project's duration. Absent: true. */
  inheritsAutoDestroy?: boolean;
  /** Absent or null: not started. */
  autoDestroyStatus?: 'queued' | 'errored' | null;
  /** Number of open change requests. */
  changeRequests?: number;
  /** Newest result of a health assessment, and the one in progress (lifecycle/timers/assessments.ts). */
  health?: HealthResult;
  assessing?: { runId: string; at: string };
  /** Overrides the organization's retention (removal/retention/). */
  dataRetention?: DataRetention;
  /** Most recent completed run. */
  latestRunId?: string;
  /** The current state version, with the attributes that a new one is checked against. */
  state?: {
    id: string;
    serial: number;
    lineage: string;
    md5: string;
    /** Hex, of the content; absent for older states. */
    sha256?: string;
    at: string;
    resources: number;
    /** Absent: none. */
    tainted?: number;
  };
  /** The newest configuration version, for runs that name none, and its creation time. */
  configuration?: { id: string; at: string };
  /** The newest version that may become it, uploaded or pending. */
  newestConfigurationId?: string;
  /** Runs whose saved plans can still be applied. */
  savedPlans?: Set<string>;
  /** Ids of its notification configurations. */
  notifications?: Set<string>;
  /**
   * Its project has notification configurations: a copy, so that runs need not read the project
   * (resources/notifications/carry.ts).
   */
  projectNotifies?: boolean;
  /** SSH key with which its runs fetch modules (resources/ssh-keys/records.ts). */
  sshKeyId?: string;
  /** Access of teams. */
  teamAccess?: TeamAccess<WorkspaceGrant>;
  /** Owner that alone starts runs in it: `environment <owner>/<name>` or `template <name>`. */
  managedBy?: string;
  /** Its connected repository; null or absent for none. */
  vcsRepo?: VcsRepo | null;
  /**
   * The followed branch, and the number of its last move that started a run, so that no run of an older commit
   * follows.
   */
  vcsFollows?: string;
  vcsMoves?: number;
  /**
   * Pull request that was applied but not merged yet: meanwhile pushes start no run (version-control/merge-locks.ts).
   */
  vcsPull?: { repository: string; number: number; by: string; at: string };
  /** The no-code module from which it was created, and its current version (functions/features/no-code/). */
  sourceModule?: SourceModule;
  /** Set while the workspace is being deleted (end.ts); readers treat it as deleted. */
  deletedAt?: string;
  deletedBy?: string;
}

export type AutoDestroyChange = Partial<
  Pick<Workspace, 'autoDestroyAt' | 'autoDestroyActivityDuration' | 'inheritsAutoDestroy' | 'autoDestroyStatus'>
>;

export type NewWorkspace = WorkspaceSettings &
  AutoDestroyChange &
  Pick<Workspace, 'projectNotifies' | 'sourceModule'> &
  Pick<Workspace, 'organization' | 'name' | 'projectId' | 'tags' | 'inheritsExecutionMode' | 'managedBy'>;

/** Its entry in indexes of names. */
export const entryOf = (
  id: string,
  { projectId, tags, managedBy }: Pick<NewWorkspace, 'projectId' | 'tags' | 'managedBy'>,
): NameEntry => ({
  workspaceId: id,
  projectId,
  tags,
  ...(managedBy ? { managed: true } : {}),
});

const living = (workspace: Workspace | undefined): Workspace | undefined =>
  workspace?.deletedAt ? undefined : workspace;

/** 1 read. */
export const getWorkspace = async (id: string): Promise<Workspace | undefined> =>
  living(await get<Workspace>(keys.workspace(id)));

/** 2 reads. */
export const findWorkspace = async (organization: string, name: string): Promise<Workspace | undefined> => {
  const entry = await nameEntry(organization, name);
  const workspace = entry && (await getWorkspace(entry.workspaceId));
  // An interrupted rename leaves an entry with a former name.
  return workspace?.name === name ? workspace : undefined;
};

/** Ordered by id; missing workspaces are left out. */
export const getWorkspaces = async (ids: string[]): Promise<Workspace[]> =>
  (await batchGet<Workspace & Key>(ids.map(keys.workspace))).filter(living);

/**
 * 4 writes, 5 with agents, automatic destruction or assessments; undefined when the name is taken.
 * @throws {AgentPoolGoneError}
 */
export const createWorkspace = async (settings: NewWorkspace): Promise<Workspace | undefined> => {
  const { organization, name, agentPoolId } = settings;
  const id = await claimName(organization, name, entryOf(newId('ws'), settings));
  if (!id) return undefined;
  if (agentPoolId) await usePool(agentPoolId, id);
  await Promise.all([indexInProject(name, entryOf(id, settings)), countNames(organization, 'workspace', 1)]);
  await startAutoDestroyTimer(id, settings);
  if (settings.assessmentsEnabled) await startHealthTimer(id);
  const at = now();
  const workspace: Workspace = { ...withoutDefaults(settings), id, createdAt: at, updatedAt: at, runCount: 0 };
  const item = { ...keys.workspace(id), ...workspace, changedIn: organization, changedAt: at };
  return (await create(item)) ? workspace : undefined;
};

export type WorkspaceChange = Partial<
  WorkspaceSettings &
    AutoDestroyChange &
    Pick<Workspace, 'projectNotifies'> &
    Pick<Workspace, 'name' | 'projectId' | 'tags' | 'inheritsExecutionMode' | 'vcsRepo' | 'vcsFollows' | 'vcsMoves'>
>;

/** Updates the index entries from the record. */
const reindex = async (before: Workspace, after: Workspace): Promise<void> => {
  const { id, organization, name, projectId } = after;
  const entry = entryOf(id, after);
  if (name !== before.name) {
    await releaseName(organization, before.name, id);
    await countNames(organization, 'workspace', 0);
  } else {
    await indexName(organization, name, entry);
  }
  if (name === before.name && projectId === before.projectId) await indexInProject(name, entry);
  else await leaveProject(before.projectId, before.name, id);
};

/**
 * Changes the workspace unless it changed since it was read.
 * @throws {AgentPoolGoneError}
 */
export const updateWorkspace = async (
  workspace: Workspace,
  change: WorkspaceChange,
  editor: Editor,
): Promise<Workspace | 'name taken' | 'changed meanwhile'> => {
  const next = { ...workspace, ...change };
  const renamed = next.name !== workspace.name;
  const moved = renamed || next.projectId !== workspace.projectId;
  const entry = entryOf(workspace.id, next);
  if (renamed && (await claimName(workspace.organization, next.name, entry)) !== workspace.id) return 'name taken';
  if (moved) await indexInProject(next.name, entry);
  const edit = {
    set: { ...change, updatedAt: nowAfter(workspace.updatedAt) },
    condition: 'updatedAt = :seen AND attribute_not_exists(deletedAt)',
    values: { ':seen': workspace.updatedAt },
  };
  if (change.assessmentsEnabled && !workspace.assessmentsEnabled) await startHealthTimer(workspace.id);
  if (change.inheritsAutoDestroy !== undefined) await startAutoDestroyTimer(workspace.id, next);
  const pools = { from: workspace.agentPoolId, to: next.agentPoolId };
  const updated = await withPoolUse(workspace.id, pools, () =>
    update<Workspace>(keys.workspace(workspace.id), asEdit(edit, editor)),
  );
  if (!updated) {
    if (renamed) await releaseName(workspace.organization, next.name, workspace.id);
    return 'changed meanwhile';
  }
  if (moved || change.tags) await reindex(workspace, updated);
  return updated;
};

/** Increments the count of a newly created resource. */
export const countOne = async (
  workspaceId: string,
  counter: 'stateVersionCount' | 'configurationVersionCount',
  set: Pick<Workspace, 'newestConfigurationId'> = {},
): Promise<void> => {
  await updateExisting(keys.workspace(workspaceId), { set, add: { [counter]: 1 } });
};
