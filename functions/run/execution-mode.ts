/** `agent`: by agents of a pool, on machines of their owners. */
export type ExecutionMode = 'remote' | 'local' | 'agent';
