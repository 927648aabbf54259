/**
 * `refused`: the forge rejects the token, or the token lacks the permission. `missing`: not found. `limited`: the forge
 * asks to wait. `unreachable`: a retry may help. `forbidden`: this platform may not call the address, or starts no run.
 */
export type ForgeFailure = 'refused' | 'missing' | 'limited' | 'unreachable' | 'forbidden' | 'unexpected';

/** A request to a forge failed; the message is for people, and contains no secret. */
export class ForgeError extends Error {
  override name = 'ForgeError';
  readonly failure: ForgeFailure;
  readonly status: number | undefined;

  constructor(failure: ForgeFailure, message: string, status?: number) {
    super(message);
    this.failure = failure;
    this.status = status;
  }
}

/** Whether the same call may succeed later. */
export const mayPass = (error: unknown): boolean =>
  !(error instanceof ForgeError) || ['limited', 'unreachable'].includes(error.failure);
