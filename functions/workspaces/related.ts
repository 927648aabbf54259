import type { Relationship, Resource } from '../api/answer.ts';
import type { Granted } from '../api/permissions/granted.ts';
import type { Context, Subject } from '../api/route.ts';
import type { Run } from '../run/run.ts';
import type { Workspace } from './records.ts';

/** A workspace, and the run that it shows as its current one. */
export interface ShownWorkspace {
  workspace: Workspace;
  runId: string | undefined;
}

export interface Related {
  included: Resource[];
  /** By workspace: relationships that its document has only with what they lead to. */
  relationships: Map<string, Record<string, Relationship>>;
}

/** The workspace's document with the relationships that lead to what came along. */
export const withRelated = (document: Resource, related: Related | undefined): Resource => ({
  ...document,
  relationships: { ...document.relationships, ...related?.relationships.get(document.id) },
});

/** What is asked to come along (includes/workspaces.ts). Undefined when nothing is. @throws {ApiError} 400 */
export type RelatedToWorkspaces = (
  context: Context<Subject>,
  shown: ShownWorkspace[],
  granted: (workspaceId: string) => Granted,
) => Promise<Related | undefined>;

/** What lists and documents of workspaces take from the subjects above them. */
export interface WorkspaceDependencies {
  /** Of the workspace's variables. */
  variableIds(workspaceId: string): Promise<string[]>;
  related: RelatedToWorkspaces;
  getRuns(ids: string[]): Promise<Run[]>;
}
