import { freezeChecks } from '#lifecycle/creation/freeze-checks.ts';
import { completed, createRun } from '#lifecycle/creation/new-run.ts';
import { adoptArchive } from '#resources/configurations/records.ts';
import { type FrozenVariable, freezeVariables } from '#resources/runs/inputs.ts';
import { getRun } from '#resources/runs/records.ts';
import { checkAdmitted } from '#resources/workspaces/admitted-runs.ts';
import { buildVariable } from '#resources/workspaces/managed.ts';
import { createWorkspace, defaultSettings, type Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';

/** Shared by builds, imports and dry runs: each is a run of the platform. */

export interface Archive {
  key: string;
  sha256: string;
}

/** Creates a workspace in which only this wing starts runs. Makes its name unique. */
export const createManagedWorkspace = async (
  home: { organization: string; projectId: string },
  name: string,
  managedBy: string,
): Promise<Workspace> => {
  const workspace = await createWorkspace({
    ...defaultSettings,
    ...home,
    name,
    managedBy,
    tags: [],
    autoApply: true,
    speculativeEnabled: false,
    description: `Belongs to ${managedBy}.`,
  });
  if (!workspace) throw new Error(`workspace ${name} exists already`);
  return workspace;
};

export interface BuildRun extends Pick<Run, 'id' | 'createdBy' | 'message' | 'planOnly' | 'isDestroy'> {
  workspace: Workspace;
  archive: Archive;
  /** Absent: the workspace's current version. */
  configurationVersionId?: string;
  /** Terraform variables besides those of the workspace and its variable sets. */
  variables: FrozenVariable[];
  /** For a build: the template's workspace, whose policy sets and run tasks apply. */
  templateWorkspaceId?: string;
  /** The value of `Run.environment`. */
  belongsTo: string;
  restarts?: Run['restarts'];
}

/**
 * Creates and starts the run with auto-apply, because the right to build includes applying. Can be repeated, since
 * the caller chooses the id.
 * @throws {ApiError} 409 when runs of the organization cannot start
 */
export const startRun = async (request: BuildRun): Promise<Run> => {
  const { id, workspace, archive, createdBy, planOnly } = request;
  const existing = await getRun(id);
  if (existing) return completed(existing);
  checkAdmitted(workspace);
  const [inputsKey, checks, configurationVersionId] = await Promise.all([
    freezeVariables(workspace, id, [], { more: request.variables, reserved: buildVariable }),
    freezeChecks(workspace, {
      id,
      planOnly,
      targetAddrs: null,
      fetching: false,
      templateWorkspaceId: request.templateWorkspaceId,
    }),
    request.configurationVersionId ?? recordArchive(workspace, archive, createdBy),
  ]);
  return createRun(workspace.id, {
    id,
    message: request.message,
    isDestroy: request.isDestroy,
    planOnly,
    autoApply: !planOnly,
    configurationVersionId,
    archive,
    createdBy,
    source: 'tfe-api',
    // Each line of Terraform's JSON output has a time and a level.
    structuredOutput: true,
    terraformVersion: workspace.terraformVersion,
    inputsKey,
    environment: request.belongsTo,
    restarts: request.restarts,
    ...checks,
  });
};

/** @returns id of the configuration version */
export const recordArchive = async (
  { id: workspaceId, organization }: Workspace,
  archive: Archive,
  createdBy: string,
): Promise<string> => {
  const configuration = {
    organization,
    workspaceId,
    autoQueueRuns: false,
    speculative: true,
    provisional: false,
    createdBy,
  };
  return (await adoptArchive({ ...configuration, source: 'tfe-api' }, archive)).id;
};

export const environmentVariable = (key: string, value: string): FrozenVariable => ({
  key,
  value,
  category: 'env',
  hcl: false,
  sensitive: false,
});
