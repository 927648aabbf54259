import type { Execution } from '#run/execution-mode.ts';
import type { Project } from './records.ts';

/** What those that follow do. */
export const executionIn = (
  above: Pick<Project, 'defaultExecutionMode' | 'defaultAgentPoolId'> | undefined,
): Execution => ({
  executionMode: above?.defaultExecutionMode ?? 'remote',
  agentPoolId: above?.defaultAgentPoolId ?? null,
});
