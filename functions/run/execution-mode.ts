/** `agent`: on agents of a pool, which run on the organization's own machines. */
export type ExecutionMode = 'remote' | 'local' | 'agent';

/** Execution mode of runs, and their agent pool. */
export interface Execution {
  executionMode: ExecutionMode;
  agentPoolId: string | null;
}
