import type { UnsavedState } from '../run/state-identity.ts';

/**
 * The lock's holder, who alone may write state and start runs. `unsaved`: a state that has to be pushed first (locks.ts).
 * `alone`: no other run waits for the holder (orchestration/queue.ts).
 */
export type WorkspaceLock = { at: string; unsaved?: UnsavedState } & (
  | { kind: 'run'; runId: string; alone?: true }
  | { kind: 'user'; userId: string; reason: string; nonce?: string }
);
