import { isRunnerGone, runningContainers, stopRunner } from '../orchestration/launcher.ts';

/**
 * Asks every container to stop: the table does not know who has which. Terraform gets its two minutes to end, and leaves
 * its state where the apply would. @returns how many have not ended
 */
export const stopContainers = async (): Promise<number> => {
  const containers = await runningContainers();
  await Promise.all(containers.map(({ arn }) => stopRunner(arn, 'the platform was restored to an earlier time')));
  const states = await Promise.all(containers.map(({ arn }) => isRunnerGone(arn)));
  return states.filter((isGone) => !isGone).length;
};
