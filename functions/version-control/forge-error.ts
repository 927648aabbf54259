/**
 * `refused`: the forge rejects the token, or the token lacks the permission. `missing`: not found. `limited`: the
 * forge's rate limit is exhausted. `unreachable`: a retry may help. `forbidden`: this platform may not call the
 * address, or does not start runs.
 */
export type ForgeFailure = 'refused' | 'missing' | 'limited' | 'unreachable' | 'forbidden' | 'unexpected';

/** A request to a forge failed; users see the message, which contains no secret. */
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

/** Whether the same call can succeed later. */
export const mayPass = (error: unknown): boolean =>
  !(error instanceof ForgeError) || ['limited', 'unreachable'].includes(error.failure);
