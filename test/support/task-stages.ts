import type { TaskValues } from '#resources/run-tasks/records.ts';
import type { TaskStage } from '#run/check-record.ts';
import type { EnforcementLevel } from '#run/task-stages.ts';

/** Run tasks and their records on runs, created directly in the store. Start DynamoDB first. */
export const taskHelpers = async () => {
  const { createTask } = await import('#resources/run-tasks/records.ts');
  const { createWorkspaceTask } = await import('#resources/run-tasks/workspace-tasks.ts');
  const { freezeTaskStages } = await import('#resources/run-tasks/stages.ts');
  const { awaitResult } = await import('#resources/run-tasks/results.ts');
  const { getRun, updateRun } = await import('#resources/runs/records.ts');
  let counter = 0;
  const task = async (change: Partial<TaskValues> = {}, organization = 'acme') => {
    const created = await createTask(organization, {
      name: `made-${++counter}-${Math.random().toString(36).slice(2, 8)}`,
      url: 'https://task.test/',
      description: null,
      enabled: true,
      global: { enabled: false, stages: [], enforcementLevel: 'advisory' },
      ...change,
    });
    if (!created) throw new Error('name taken');
    return created;
  };
  return {
    task,
    /** Adds a task stage to an existing run, as if its workspace had had the task before. */
    stageOf: async (
      runId: string,
      taskId: string,
      stage: TaskStage = 'post_plan',
      enforcementLevel: EnforcementLevel = 'mandatory',
    ) => {
      const run = await getRun(runId);
      if (!run) throw new Error(`no run ${runId}`);
      const { workspaceId, organization, planOnly } = run;
      await createWorkspaceTask(workspaceId, taskId, { stages: [stage], enforcementLevel });
      const { stages } = await freezeTaskStages({ runId, workspaceId, organization, planOnly });
      await updateRun(runId, { set: { checks: { tasks: stages } } });
      return { stage: stages[stage]?.id as string, result: stages[stage]?.taskResultIds[0] as string };
    },
    /** Puts the task result in progress like the machine: with a task token, and the access token that was sent. */
    ask: async (resultId: string, token = `token of ${resultId}`) => {
      const awaited = await awaitResult(resultId, { token });
      if (!awaited) throw new Error(`no result ${resultId}`);
      return { token, accessToken: awaited.accessToken };
    },
  };
};
