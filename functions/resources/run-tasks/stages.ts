import { derivedId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, queryAll } from '#platform/store/table.ts';
import { type FrozenTaskStages, type TaskStage, taskStages } from '#run/check-record.ts';
import type { Run } from '#run/run.ts';
import { digitOf, type EnforcementLevel, isResultFinal, type StageFacts, taskStageId } from '#run/task-stages.ts';
import { getTasks, listGlobalTasks, type Task } from './records.ts';
import { newTaskResult, type TaskResult } from './results.ts';
import { listWorkspaceTasks } from './workspace-tasks.ts';

/**
 * Task stages of a run. Their ids start with the characters of their run's id, so that finding them takes no read. A
 * stage's tasks are fixed in the run's item, from which its status follows (run/task-stages.ts).
 */

/** The same task of the same run has the same id each time. */
const resultId = (runId: string, stage: TaskStage, taskId: string): string => {
  const rest = derivedId('', `${runId} ${stage} ${taskId}`).slice(1, 9);
  return `${runId.replace(/^run-/, 'taskrs-')}${digitOf(stage)}${rest}`;
};

/** Attributes of a new run that determine its tasks. */
export interface StageRun {
  runId: string;
  organization: string;
  workspaceId: string;
  /** Workspace of the environment template that the run belongs to; its tasks apply too. */
  templateWorkspaceId?: string | undefined;
  /** A plan-only run never reaches its apply. */
  planOnly: boolean;
}

interface Attachment {
  task: Task;
  workspaceTaskId?: string;
  enforcementLevel: EnforcementLevel;
}

/** When a task applies both to the workspace and globally, the stricter level wins. */
const stricter = (a: Attachment | undefined, b: Attachment): Attachment =>
  a && (a.enforcementLevel === 'mandatory' || b.enforcementLevel === 'advisory') ? a : b;

const wantedTasks = async ({
  organization,
  workspaceId,
  templateWorkspaceId: template,
}: StageRun): Promise<Map<TaskStage, Map<string, Attachment>>> => {
  const [global, ...attached] = await Promise.all([
    listGlobalTasks(organization),
    ...[workspaceId, ...(template ? [template] : [])].map(listWorkspaceTasks),
  ]);
  const own = attached.flat();
  const tasks = new Map((await getTasks(own.map(({ taskId }) => taskId))).map((task) => [task.id, task]));
  const all = [
    ...own.flatMap(({ id, taskId, stages, enforcementLevel }) => {
      const task = tasks.get(taskId);
      return task ? [{ stages, attachment: { task, workspaceTaskId: id, enforcementLevel } }] : [];
    }),
    ...global.map((task) => ({
      stages: task.global.stages,
      attachment: { task, enforcementLevel: task.global.enforcementLevel },
    })),
  ];
  const byStage = new Map<TaskStage, Map<string, Attachment>>();
  for (const { stages, attachment } of all) {
    if (!attachment.task.enabled || attachment.task.organization !== organization) continue;
    for (const stage of stages) {
      const ofStage = byStage.get(stage) ?? new Map<string, Attachment>();
      ofStage.set(attachment.task.id, stricter(ofStage.get(attachment.task.id), attachment));
      byStage.set(stage, ofStage);
    }
  }
  return byStage;
};

/**
 * Fixes the tasks of a new run: the enabled ones of its workspace, and the global ones of its organization. Writes a
 * pending result for each, and nothing else; two queries when there are no tasks. Call it before writing the run, and
 * store the answer with the run. It can be repeated or interrupted at any point, because results that no run lists
 * are ignored.
 */
export const freezeTaskStages = async (run: StageRun): Promise<{ stages: FrozenTaskStages }> => {
  const attachments = await wantedTasks(run);
  const stages: FrozenTaskStages = {};
  for (const stage of taskStages) {
    const ofStage = [...(attachments.get(stage)?.values() ?? [])].sort((a, b) => (a.task.name < b.task.name ? -1 : 1));
    if (ofStage.length === 0 || (run.planOnly && stage.endsWith('_apply'))) continue;
    const results = ofStage.map(({ task, workspaceTaskId, enforcementLevel }) =>
      newTaskResult({
        id: resultId(run.runId, stage, task.id),
        runId: run.runId,
        stage,
        taskId: task.id,
        taskName: task.name,
        taskUrl: task.url,
        workspaceTaskId,
        enforcementLevel,
        isSpeculative: run.planOnly,
      }),
    );
    await Promise.all(results.map(({ key, result }) => create({ ...key, ...result })));
    stages[stage] = { id: taskStageId(run.runId, stage), taskResultIds: results.map(({ result }) => result.id) };
  }
  return { stages };
};

/** Results of one stage, or of all, in the run's order. 1 query. */
export const listTaskResults = async (run: StageFacts, stage?: TaskStage): Promise<TaskResult[]> => {
  const prefix = `TASKRESULT#${stage ? digitOf(stage) : ''}`;
  const stored = await queryAll<TaskResult>({ pk: keys.run(run.id).pk, prefix });
  const byId = new Map(stored.map((result) => [result.id, result]));
  const stages = stage ? [stage] : taskStages;
  const ids = stages.flatMap((name) => run.checks?.tasks?.[name]?.taskResultIds ?? []);
  return ids.flatMap((id) => byId.get(id) ?? []);
};

/**
 * Task tokens of executions that wait for run tasks, which a cancel has to resume. An execution that stores its token
 * later reads the run again and sees the cancel (lifecycle/states/run-task.ts).
 */
export const openTaskTokens = async (run: Pick<Run, 'id'>): Promise<string[]> => {
  const results = await queryAll<TaskResult>({ pk: keys.run(run.id).pk, prefix: 'TASKRESULT#' });
  return results.flatMap(({ token, status }) => (token && !isResultFinal(status) ? [token] : []));
};
