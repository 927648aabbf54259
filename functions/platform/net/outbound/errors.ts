/**
 * `forbidden`: it is never allowed. `unreachable`: it could not be reached, or broke off. `timeout`: it took too long.
 */
export type OutboundFailure = 'forbidden' | 'unreachable' | 'timeout';

/** A request to a user's URL failed or was refused; the message is shown to users. */
export class OutboundError extends Error {
  override name = 'OutboundError';
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
