import type { Resource } from '#api/answer.ts';
import type { Granted } from '#api/permissions/granted.ts';
import type { Context, Subject } from '#api/route.ts';
import { configurationVersionDocument, ingressDocuments } from '#resources/configurations/document.ts';
import { getConfigurationVersions } from '#resources/configurations/records.ts';
import { costEstimateDocument } from '#resources/costs/document.ts';
import { taskStageDocument } from '#resources/run-tasks/stage-document.ts';
import { applyDocument, planDocument } from '#resources/runs/document.ts';
import { runIncludes } from '#resources/runs/routes.ts';
import { userDocument } from '#resources/users/user-document.ts';
import { getUsers } from '#resources/users/users.ts';
import { workspaceDocument } from '#resources/workspaces/document.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { stagesOf } from '#run/task-stages.ts';

/** Loads the requested includes; a run in `data` is never repeated in `included`, which would create a cycle. */
export const relatedToRuns = async (
  { request }: Context<Subject>,
  runs: Run[],
  granted: (workspaceId: string) => Granted,
): Promise<Resource[] | undefined> => {
  const include = runIncludes.of(request);
  if (include.size === 0) return undefined;
  const ids = (name: Parameters<typeof include.has>[0], of: (run: Run) => string): string[] =>
    include.has(name) ? [...new Set(runs.map(of))] : [];
  const [workspaces, versions, users] = await Promise.all([
    getWorkspaces(ids('workspace', (run) => run.workspaceId)),
    getConfigurationVersions(ids('configuration_version', (run) => run.configurationVersionId)),
    getUsers(ids('created_by', (run) => run.createdBy)),
  ]);
  return [
    ...(include.has('plan') ? runs.map((run) => planDocument(run, request.baseUrl)) : []),
    ...(include.has('apply') ? runs.map((run) => applyDocument(run, request.baseUrl)) : []),
    ...(include.has('cost_estimate') ? runs.flatMap((run) => costEstimateDocument(run) ?? []) : []),
    ...workspaces.map((workspace) => workspaceDocument(workspace, granted(workspace.id))),
    ...versions.map((version) => configurationVersionDocument(version)),
    ...(include.has('configuration_version.ingress_attributes') ? ingressOf(runs) : []),
    ...users.map(userDocument),
    ...(include.has('task_stages')
      ? runs.flatMap((run) =>
          stagesOf(run).map((stage) => taskStageDocument(run, stage, { granted: granted(run.workspaceId) })),
        )
      : []),
  ];
};

/** Ingress attributes come from the runs. They appear once per configuration, because several runs can share one. */
const ingressOf = (runs: Run[]): Resource[] => {
  const versions = runs.map((run) => ({ id: run.configurationVersionId, ingress: run.ingress }));
  return ingressDocuments([...new Map(versions.map((version) => [version.id, version])).values()]);
};
