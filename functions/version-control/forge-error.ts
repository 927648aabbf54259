/**
 * `refused`: it does not accept the token, or the token may not do that. `missing`: there is nothing of the kind.
 * `limited`: it asks to wait. `unreachable`: another try may help. `forbidden`: this platform may not call the address.
 */
export type ForgeFailure = 'refused' | 'missing' | 'limited' | 'unreachable' | 'forbidden' | 'unexpected';

/** A forge did not do what it was asked; the message is for people, and has no secret in it. */
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
