/** `agent`: by agents of a pool, on machines of their owners. */
export type ExecutionMode = 'remote' | 'local' | 'agent';

/** How runs are done, and by whose agents. */
export interface Execution {
  executionMode: ExecutionMode;
  agentPoolId: string | null;
}
