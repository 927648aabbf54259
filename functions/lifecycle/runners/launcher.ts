import {
  DescribeTasksCommand,
  ListTasksCommand,
  RunTaskCommand,
  StopTaskCommand,
  type Tag,
  type Task,
} from '@aws-sdk/client-ecs';
import { newClaim } from '#lifecycle/phases/phases.ts';
import { environment } from '#platform/environment.ts';
import { hashSecret } from '#platform/store/id.ts';
import { tasks } from '#platform/store/tasks.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { deliver } from '#resources/runs/execution.ts';
import { updateRun } from '#resources/runs/records.ts';
import { refusalOf } from '#resources/workspaces/admitted-runs.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { slotGroup } from '#run/slots.ts';
import { isJobQueued, queueJob } from './agent-jobs.ts';

/**
 * Starts and stops the containers that Terraform runs in, or queues the phase for an agent. A container starts with
 * the platform's URL and a single-use claim for one phase of one run, and exchanges the claim for everything else
 * (run/protocols/runner.ts).
 */

/** `arn:aws:ecs:<region>:<account>:task/<cluster>/<id>`. All containers are in one cluster, which its other API calls name. */
export const taskIdOf = (arn: string): string => arn.slice(arn.lastIndexOf('/') + 1);

/** ECS has no capacity for another container; the machine retries. */
export class CapacityUnavailableError extends Error {
  override name = 'CapacityUnavailableError';
}

/** Whether the phase needs a runner and has none. */
export const needsRunner = (run: Run, phase: PhaseName): boolean =>
  !run[phase].taskId && !run[phase].claimNonce && !run.cancel && !isJobQueued(run, phase);

/**
 * Reason why the run must not start (setting STEPFORM_RUNS_OF); only for runs created before the setting, which also
 * prevents new ones.
 */
export const refusalOfRun = ({ organization, agentPool }: Run): string | undefined =>
  refusalOf(organization, agentPool !== undefined);

/** Ends the phase as errored. */
const refuse = async (run: Run, phase: PhaseName, message: string): Promise<void> => {
  const refused = await updateRun(run.id, {
    set: { [`${phase}.report`]: { outcome: 'errored', message } },
    condition: `attribute_not_exists(${phase}.report) AND attribute_not_exists(${phase}.claimNonce)`,
  });
  if (refused) await deliver(refused);
};

/** Writes a new claim and starts a runner with it, or queues the phase for an agent, unless it has a runner. */
export const launchRunner = async (run: Run, phase: PhaseName): Promise<void> => {
  if (!needsRunner(run, phase)) return;
  if (run.agentPool) return queueJob(run, phase);
  const refusal = refusalOfRun(run);
  if (refusal !== undefined) return refuse(run, phase, refusal);
  const { secret, set } = newClaim(phase);
  const claimed = await updateRun(run.id, {
    set,
    remove: [`${phase}.reserved`, 'plan.ready'],
    // A claim that is written late must not void the claim of the container that a retry has started.
    condition: `attribute_not_exists(${phase}.claimNonce) AND attribute_not_exists(${phase}.taskId) AND attribute_not_exists(cancel)`,
  });
  if (claimed) await startRunner(claimed, phase, secret);
};

/** Longer than a runner retries its claim, after which it exits (runner/program/client.ts). */
const claimMs = 100_000;

/**
 * Replaces a runner that hangs before its claim, or whose end was not reported, and voids its claim. 1 request to
 * ECS while the runner has time to claim.
 * @returns whether another runner was started
 * @throws {CapacityUnavailableError}
 */
export const replaceUnclaimed = async (run: Run, phase: PhaseName): Promise<boolean> => {
  const { taskId, claimNonce } = run[phase];
  if (!taskId || claimNonce || run.cancel || (await hasTimeToClaim(taskId))) return false;
  const { secret, set } = newClaim(phase);
  const replaced = await updateRun(run.id, {
    set,
    remove: [`${phase}.taskId`],
    condition: `${phase}.taskId = :unclaimed AND attribute_not_exists(${phase}.claimNonce) AND attribute_not_exists(${phase}.report) AND attribute_not_exists(cancel)`,
    values: { ':unclaimed': taskId },
  });
  if (!replaced) return false;
  await stopRunner(taskId, `it did not claim the ${phase} of ${run.id}`);
  const description = `The runner started, but did not claim the ${phase}. Another one was started in its place.`;
  await recordRunEvent(run, `${phase}_runner_replaced`, undefined, undefined, undefined, description);
  await startRunner(replaced, phase, secret);
  return true;
};

/** A container that is still being provisioned has time until the state of the state machine times out. */
const hasTimeToClaim = async (taskId: string): Promise<boolean> => {
  const [task] = await describeTasks([taskId]);
  if (!task || task.lastStatus === 'STOPPED') return false;
  return !task.startedAt || task.startedAt.getTime() > Date.now() - claimMs;
};

/** Errors of ECS if it cannot start another task now: throttling or a quota (ECS: RunTask). */
const noRoom = ({ name, message }: Error): boolean =>
  /Throttling|LimitExceeded|ServiceUnavailable/.test(name) || /capacity|reached the limit/i.test(message);

/**
 * Starts a container with a claim that has been written. Each attempt has its own claim: if the response to a start
 * was lost, that container's claim is void and it exits.
 * @throws {CapacityUnavailableError}
 */
export const startRunner = async (run: Run, phase: PhaseName, secret: string): Promise<void> => {
  const taskId = await runContainer(run.id, `${run.id}.${phase}.${secret}`, run);
  // Succeeds also if the runner has claimed already. Fails if the run is final, because nothing else would stop this
  // container, and if the claim was replaced, because this container's exit would be taken for the exit of its
  // successor.
  const recorded = await updateRun(run.id, {
    set: { [`${phase}.taskId`]: taskId },
    condition: `${phase}.claimHash = :claim`,
    values: { ':claim': hashSecret(secret) },
  });
  if (!recorded) await stopRunner(taskId, 'the run has ended, or another runner has claimed the phase');
};

/** Once activated as cost allocation tags, they are in the account's cost reports (AWS Billing: cost allocation tags). */
const tagsOf = ({ id, organization, projectId, workspaceName }: Run): Tag[] =>
  Object.entries({ organization, project: projectId, workspace: workspaceName, run: id }).flatMap(([key, value]) =>
    value ? { key: `stepform:${key}`, value } : [],
  );

/**
 * @param startedBy run or warm runner that the container is for
 * @param claim sent with the container's first request
 * @param run tags the container, so that its costs can be attributed; a warm runner is started for none
 * @returns the container's task id
 * @throws {CapacityUnavailableError}
 */
export const runContainer = async (startedBy: string, claim: string, run?: Run): Promise<string> => {
  const refused = (why: string) =>
    new CapacityUnavailableError(`The container for ${startedBy} could not be started: ${why}`);
  const answer = await tasks()
    .send(
      new RunTaskCommand({
        cluster: environment.clusterArn,
        taskDefinition: environment.taskDefinitionArn,
        launchType: 'FARGATE',
        startedBy,
        ...(environment.maxRunners ? { group: slotGroup } : {}),
        tags: run && tagsOf(run),
        networkConfiguration: {
          awsvpcConfiguration: {
            subnets: environment.subnets,
            securityGroups: environment.securityGroups,
            assignPublicIp: environment.assignPublicIp ? 'ENABLED' : 'DISABLED',
          },
        },
        overrides: {
          containerOverrides: [
            {
              name: environment.containerName,
              environment: [
                { name: 'STEPFORM_URL', value: environment.publicUrl },
                { name: 'STEPFORM_CLAIM', value: claim },
              ],
            },
          ],
        },
      }),
    )
    .catch((error: Error) => {
      throw noRoom(error) ? refused(error.message) : error;
    });
  const taskArn = answer.tasks?.[0]?.taskArn;
  if (!taskArn) {
    const why = answer.failures?.map(({ reason, detail }) => detail ?? reason).join('; ') ?? 'no task was started';
    throw refused(why);
  }
  return taskIdOf(taskArn);
};

/** All containers of a run that ECS lists, including one whose id was never stored. */
export const runnersOf = async (runId: string): Promise<string[]> => {
  const lists = await Promise.all(
    (['RUNNING', 'STOPPED'] as const).map((desiredStatus) =>
      tasks().send(new ListTasksCommand({ cluster: environment.clusterArn, startedBy: runId, desiredStatus })),
    ),
  );
  return lists.flatMap(({ taskArns = [] }) => taskArns.map(taskIdOf));
};

export interface Container {
  taskId: string;
  startedBy: string;
  createdAt?: string;
}

/** At most 100. ECS returns a task for about an hour after it stopped. */
const describeTasks = async (ids: string[]): Promise<Task[]> => {
  const answer = await tasks().send(new DescribeTasksCommand({ cluster: environment.clusterArn, tasks: ids }));
  return answer.tasks ?? [];
};

/** All running containers that ECS lists, including those whose id was never stored. */
export const runningContainers = async (): Promise<Container[]> => {
  const containers: Container[] = [];
  const cluster = environment.clusterArn;
  for (let nextToken: string | undefined, first = true; first || nextToken; first = false) {
    const page = await tasks().send(new ListTasksCommand({ cluster, desiredStatus: 'RUNNING', nextToken }));
    nextToken = page.nextToken;
    if (!page.taskArns?.length) continue;
    for (const { taskArn, startedBy, createdAt } of await describeTasks(page.taskArns))
      if (taskArn && startedBy)
        containers.push({ taskId: taskIdOf(taskArn), startedBy, createdAt: createdAt?.toISOString() });
  }
  return containers;
};

/** Stops a container (SIGTERM, then SIGKILL after its stop timeout). Ignores a missing container. */
export const stopRunner = async (taskId: string, reason: string): Promise<void> => {
  try {
    await tasks().send(
      new StopTaskCommand({ cluster: environment.clusterArn, task: taskId, reason: reason.slice(0, 250) }),
    );
  } catch (error) {
    if (!/not found/i.test((error as Error).message)) throw error;
  }
};

/** True once the container has stopped. */
export const isRunnerGone = async (taskId: string): Promise<boolean> =>
  (await describeTasks([taskId])).every(({ lastStatus }) => lastStatus === 'STOPPED');
