/**
 * `forbidden`: it may not be called, however often one tries. `unreachable`: it could not be reached, or broke off.
 * `timeout`: it took too long.
 */
export type OutboundFailure = 'forbidden' | 'unreachable' | 'timeout';

/** No answer to a request that was sent, or was not sent, to somebody's URL; the message is for people. */
export class OutboundError extends Error {
  override name = 'OutboundError';
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}
