import { lookAt } from './workspaces/executor.ts';

/** An environment's time has come: a build that did not begin or whose end nobody saw, or a start or stop on schedule. */
export const handler = async ({ environmentId }: { environmentId: string }): Promise<void> => lookAt(environmentId);
