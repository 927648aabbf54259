import type { UnsavedState } from '#run/state-identity.ts';

/**
 * The lock's holder, who alone may write state and start runs. `unsaved`: a state that has to be pushed first
 * (locks.ts). `uncontended`: no other run is in the queue behind the holder (lifecycle/queue/queue.ts).
 */
export type WorkspaceLock = { at: string; unsaved?: UnsavedState } & (
  | { kind: 'run'; runId: string; uncontended?: true }
  | { kind: 'user'; userId: string; reason: string; nonce?: string }
);
