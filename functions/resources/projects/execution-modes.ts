import type { Execution } from '#run/execution-mode.ts';
import type { Project } from './records.ts';

/** The inherited execution mode and agent pool. */
export const executionIn = (
  above: Pick<Project, 'defaultExecutionMode' | 'defaultAgentPoolId'> | undefined,
): Execution => ({
  executionMode: above?.defaultExecutionMode ?? 'remote',
  agentPoolId: above?.defaultAgentPoolId ?? null,
});
