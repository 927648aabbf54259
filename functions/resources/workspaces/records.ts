import type { TeamAccess, WorkspaceGrant } from '#api/permissions/team-access.ts';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { countNames } from '#platform/store/name-index.ts';
import { batchGet, create, get, update } from '#platform/store/table.ts';
import { now, nowAfter } from '#platform/store/time.ts';
import { usePool, withPoolUse } from '#resources/agents/pools/uses.ts';
import type { Tag } from '#resources/projects/tags.ts';
import type { DataRetention } from '#run/data-retention-record.ts';
import type { Engine } from '#run/engine.ts';
import type { Execution, ExecutionMode } from '#run/execution-mode.ts';
import type { HealthResult } from '#run/health-record.ts';
import { startAutoDestroyTimer } from './auto-destroy.ts';
import { startHealthTimer } from './health-timer.ts';
import { withoutDefaults } from './left-out.ts';
import type { WorkspaceLock } from './lock-record.ts';
import type { MergeRequirement } from './merge-requirements.ts';
import { claimName, indexInProject, indexName, leaveProject, type NameEntry, nameEntry, releaseName } from './names.ts';
import type { SourceModule } from './source-module.ts';
import type { VcsRepo } from './vcs-repo-record.ts';

/** What users set (HCP API: workspaces). */
export interface WorkspaceSettings {
  description: string | null;
  executionMode: ExecutionMode;
  /** Whose agents do its runs: with execution mode `agent`, and then only. */
  agentPoolId: string | null;
  /** What its runs use; null, or absent in what was stored before there was this: the platform's. */
  engine?: Engine | null;
  /** Of the engine: exact version, constraint, or `latest`. */
  terraformVersion: string;
  /** Relative to the root of the configuration; null is the root. */
  workingDirectory: string | null;
  autoApply: boolean;
  autoApplyRunTrigger: boolean;
  allowDestroyPlan: boolean;
  queueAllRuns: boolean;
  speculativeEnabled: boolean;
  /** Plans of pull requests are saved, to be applied before the merge. Absent in what was stored before there was this: false. */
  applyBeforeMergeEnabled?: boolean;
  /** What a pull request must be to be applied. */
  applyBeforeMergeRequirements?: MergeRequirement[];
  structuredRunOutputEnabled: boolean;
  fileTriggersEnabled: boolean;
  triggerPrefixes: string[];
  triggerPatterns: string[];
  /** Every workspace of the organization may read the state. */
  globalRemoteState: boolean;
  /** Every workspace of the project may. */
  projectRemoteState: boolean;
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
  /** By key, each once. */
  tags: Tag[];
  /** Its execution mode is the one of its project (execution-modes.ts). */
  inheritsExecutionMode?: boolean;
  /** Run numbers given so far. */
  runCount: number;
  /** The last place in the queue that was committed, and by which run (lifecycle/queue/places.ts). */
  place?: string;
  /** How many of them were plan-only; lists leave those out. */
  planOnlyCount?: number;
  /** How many of each it has had, for the totals of lists. */
  stateVersionCount?: number;
  configurationVersionCount?: number;
  lock?: WorkspaceLock;
  /** When it is destroyed by itself, or how long after the last change of its state; at most one (auto-destroy.ts). */
  autoDestroyAt?: string | null;
  autoDestroyActivityDuration?: string | null;
  /** The duration is the one of its project. Absent: it is. */
  inheritsAutoDestroy?: boolean;
  /** Absent or null: nothing happened yet. */
  autoDestroyStatus?: 'queued' | 'errored' | null;
  /** How many of its change requests are open. */
  changeRequests?: number;
  /** Newest result of an assessment of its health, and the one that goes on (lifecycle/timers/assessments.ts). */
  health?: HealthResult;
  assessing?: { runId: string; at: string };
  /** In place of its organization's (data-retention/). */
  dataRetention?: DataRetention;
  /** Most recent completed run. */
  latestRunId?: string;
  /** The current state version, with what a new one is checked against. */
  state?: {
    id: string;
    serial: number;
    lineage: string;
    md5: string;
    /** Hex, of the content; absent in states of before. */
    sha256?: string;
    at: string;
    resources: number;
  };
  /** The newest configuration version for a run that names none, and when that was created. */
  configuration?: { id: string; at: string };
  /** The newest one that is to become that, whether its content has come or not. */
  newestConfigurationId?: string;
  /** Runs whose saved plans may still be applied. */
  savedPlans?: Set<string>;
  /** Ids of its notification configurations. */
  notifications?: Set<string>;
  /** Its project has notification configurations: its own copy, so that runs need not look (resources/notifications/carry.ts). */
  projectNotifies?: boolean;
  /** What its runs fetch modules with (resources/ssh-keys/records.ts). */
  sshKeyId?: string;
  /** What teams may do with it. */
  teamAccess?: TeamAccess<WorkspaceGrant>;
  /** What it belongs to, which alone runs Terraform in it: `environment <owner>/<name>`, `template <name>`. */
  managedBy?: string;
  /** What it is connected to; null or absent for none. */
  vcsRepo?: VcsRepo | null;
  /** Which move of what it follows its newest run is of: a run of an older commit gets no number after it. */
  vcsFollows?: string;
  vcsMoves?: number;
  /** Of which pull request something was applied that is not merged yet: pushes start no run (version-control/merge-locks.ts). */
  vcsPull?: { repository: string; number: number; by: string; at: string };
  /** The no-code module that it was made from, and which version of the module it has (functions/features/no-code/). */
  sourceModule?: SourceModule;
  /** It is being deleted (end.ts): for everybody else it is gone. */
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

const living = (workspace: Workspace | undefined): Workspace | undefined =>
  workspace?.deletedAt ? undefined : workspace;

/** 1 read. */
export const getWorkspace = async (id: string): Promise<Workspace | undefined> =>
  living(await get<Workspace>(keys.workspace(id)));

/** 2 reads. */
export const findWorkspace = async (organization: string, name: string): Promise<Workspace | undefined> => {
  const entry = await nameEntry(organization, name);
  const workspace = entry && (await getWorkspace(entry.workspaceId));
  // A rename that was cut off leaves a name that is not the workspace's.
  return workspace?.name === name ? workspace : undefined;
};

/** In the order of the ids; missing ones are left out. */
export const getWorkspaces = async (ids: string[]): Promise<Workspace[]> =>
  (await batchGet<Workspace & Key>(ids.map(keys.workspace))).filter(living);

/**
 * 4 writes, 5 with agents, or where it is to be destroyed or assessed by itself; undefined when the name is taken.
 * @throws {AgentPoolGoneError}
 */
export const createWorkspace = async (settings: NewWorkspace): Promise<Workspace | undefined> => {
  const { organization, name, projectId, tags, agentPoolId } = settings;
  const id = await claimName(organization, name, { workspaceId: newId('ws'), projectId, tags });
  if (!id) return undefined;
  if (agentPoolId) await usePool(agentPoolId, id);
  await Promise.all([
    indexInProject(name, { workspaceId: id, projectId, tags }),
    countNames(organization, 'workspace', 1),
  ]);
  await startAutoDestroyTimer(id, settings);
  if (settings.assessmentsEnabled) await startHealthTimer(id);
  const at = now();
  const workspace: Workspace = { ...withoutDefaults(settings), id, createdAt: at, updatedAt: at, runCount: 0 };
  return (await create({ ...keys.workspace(id), ...workspace })) ? workspace : undefined;
};

export type WorkspaceChange = Partial<
  WorkspaceSettings &
    AutoDestroyChange &
    Pick<Workspace, 'projectNotifies'> &
    Pick<Workspace, 'name' | 'projectId' | 'tags' | 'inheritsExecutionMode' | 'vcsRepo' | 'vcsFollows' | 'vcsMoves'>
>;

/** What lists know of it becomes what the record says. */
const reindex = async (before: Workspace, after: Workspace): Promise<void> => {
  const { id, organization, name, projectId, tags } = after;
  const entry = { workspaceId: id, projectId, tags };
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
 * Changes the workspace as it was read: a concurrent change wins.
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
  const entry: NameEntry = { workspaceId: workspace.id, projectId: next.projectId, tags: next.tags };
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

/** Carries what its project says to a workspace that follows it. @throws {AgentPoolGoneError} */
export const inheritExecution = (
  { id, agentPoolId: from }: Workspace,
  { executionMode, agentPoolId }: Execution,
): Promise<Workspace | undefined> =>
  withPoolUse(id, { from, to: agentPoolId }, () =>
    update<Workspace>(keys.workspace(id), {
      set: { executionMode, agentPoolId, updatedAt: now() },
      condition: 'inheritsExecutionMode = :true AND attribute_not_exists(deletedAt)',
      values: { ':true': true },
    }),
  );

/** Counts what was just created. */
export const countOne = async (
  workspaceId: string,
  counter: 'stateVersionCount' | 'configurationVersionCount',
  set: Pick<Workspace, 'newestConfigurationId'> = {},
): Promise<void> => {
  await update(keys.workspace(workspaceId), { set, add: { [counter]: 1 }, condition: 'attribute_exists(pk)' });
};
