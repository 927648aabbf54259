/** `agent`: by agents of a pool, on machines of their owners. */
export type ExecutionMode = 'remote' | 'local' | 'agent';

/** Where runs are executed, and by which agents. */
export interface Execution {
  executionMode: ExecutionMode;
  agentPoolId: string | null;
}
