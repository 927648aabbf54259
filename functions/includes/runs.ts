import type { Resource } from '../api/answer.ts';
import type { Granted } from '../api/permissions/granted.ts';
import type { Context, Subject } from '../api/route.ts';
import { configurationVersionDocument, ingressDocuments } from '../configurations/document.ts';
import { getConfigurationVersions } from '../configurations/records.ts';
import { costEstimateDocument } from '../costs/document.ts';
import { userDocument } from '../people/accounts/user-document.ts';
import { getUsers } from '../people/accounts/users.ts';
import type { Run } from '../run/run.ts';
import { stagesOf } from '../run/task-stages.ts';
import { taskStageDocument } from '../run-tasks/stage-document.ts';
import { applyDocument, planDocument } from '../runs/document.ts';
import { runIncludes } from '../runs/routes.ts';
import { workspaceDocument } from '../workspaces/document.ts';
import { getWorkspaces } from '../workspaces/records.ts';

/** What is asked to come along; a run in `data` is never in `included` too, which would be a cycle. */
export const relatedToRuns = async (
  { request }: Context<Subject>,
  runs: Run[],
  granted: (workspaceId: string) => Granted,
): Promise<Resource[] | undefined> => {
  const include = runIncludes.of(request);
  if (include.size === 0) return undefined;
  const some = (name: Parameters<typeof include.has>[0], of: (run: Run) => string): string[] =>
    include.has(name) ? [...new Set(runs.map(of))] : [];
  const [workspaces, versions, users] = await Promise.all([
    getWorkspaces(some('workspace', (run) => run.workspaceId)),
    getConfigurationVersions(some('configuration_version', (run) => run.configurationVersionId)),
    getUsers(some('created_by', (run) => run.createdBy)),
  ]);
  return [
    ...(include.has('plan') ? runs.map((one) => planDocument(one, request.baseUrl)) : []),
    ...(include.has('apply') ? runs.map((one) => applyDocument(one, request.baseUrl)) : []),
    ...(include.has('cost_estimate') ? runs.flatMap((one) => costEstimateDocument(one) ?? []) : []),
    ...workspaces.map((one) => workspaceDocument(one, granted(one.id))),
    ...versions.map((one) => configurationVersionDocument(one)),
    ...(include.has('configuration_version.ingress_attributes') ? ingressOf(runs) : []),
    ...users.map(userDocument),
    ...(include.has('task_stages')
      ? runs.flatMap((one) =>
          stagesOf(one).map((stage) => taskStageDocument(one, stage, { granted: granted(one.workspaceId) })),
        )
      : []),
  ];
};

/** Runs know it themselves; several may be of one configuration. */
const ingressOf = (runs: Run[]): Resource[] => {
  const versions = runs.map((one) => ({ id: one.configurationVersionId, ingress: one.ingress }));
  return ingressDocuments([...new Map(versions.map((version) => [version.id, version])).values()]);
};
