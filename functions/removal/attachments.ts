import { keys } from '#platform/store/keys.ts';
import { get, queryAll, update } from '#platform/store/table.ts';
import { getPolicySets } from '#resources/policies/set-records.ts';
import { listWorkspaceTasks, type WorkspaceTask } from '#resources/run-tasks/workspace-tasks.ts';
import { getVariableSets } from '#resources/variables/set-records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';

/**
 * Variable sets, policy sets and run tasks attached to a workspace, recorded before their removal from a deleted
 * workspace, so that a recovery can attach them again.
 */
export interface WithAttachments {
  attachments?: {
    variableSets: string[];
    policySets: string[];
    excludedFrom: string[];
    tasks: Pick<WorkspaceTask, 'taskId' | 'stages' | 'enforcementLevel'>[];
  };
}

export type Attached = Pick<Workspace, 'id' | 'organization'> & WithAttachments;

const idsIn = <T extends { id: string }>(sets: T[], of: (set: T) => Set<string> | undefined, id: string): string[] =>
  sets.filter((set) => of(set)?.has(id)).map((set) => set.id);

/** Recorded once: at a repeat, some attachments are already removed. 3 reads and 1 write. */
export const noteAttachments = async ({ id, attachments }: Attached): Promise<void> => {
  if (attachments) return;
  const [tasks, pointers, policies] = await Promise.all([
    listWorkspaceTasks(id),
    queryAll<{ variableSetId: string }>({ pk: keys.workspace(id).pk, prefix: 'VARSET#' }),
    get<{ ids?: Set<string> }>(keys.policySetsOf({ workspace: id })),
  ]);
  const [sets, policySets] = await Promise.all([
    getVariableSets(pointers.map(({ variableSetId }) => variableSetId)),
    getPolicySets([...(policies?.ids ?? [])]),
  ]);
  const noted = {
    variableSets: idsIn(sets, (set) => set.workspaceIds, id),
    policySets: idsIn(policySets, (set) => set.workspaceIds, id),
    excludedFrom: idsIn(policySets, (set) => set.workspaceExclusionIds, id),
    tasks: tasks.map(({ taskId, stages, enforcementLevel }) => ({ taskId, stages, enforcementLevel })),
  };
  await update(keys.workspace(id), { set: { attachments: noted }, condition: 'attribute_not_exists(attachments)' });
};
