import { isRunnerGone, runningContainers, stopRunner } from '#lifecycle/runners/launcher.ts';

/**
 * Stops every container: the restored table does not know which run each one belongs to. Terraform gets two minutes to
 * end, and saves its state as usual.
 * @returns the number of containers that have not ended
 */
export const stopContainers = async (): Promise<number> => {
  const containers = await runningContainers();
  await Promise.all(containers.map(({ taskId }) => stopRunner(taskId, 'the platform was restored to an earlier time')));
  const states = await Promise.all(containers.map(({ taskId }) => isRunnerGone(taskId)));
  return states.filter((isGone) => !isGone).length;
};
