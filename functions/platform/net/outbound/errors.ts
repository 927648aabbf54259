/**
 * `forbidden`: the request is never allowed. `unreachable`: no connection, or an interrupted one. `timeout`: no
 * complete response in time.
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
