/** Sign-in failed; the message tells the user what to do. */
export class SignInError extends Error {
  override name = 'SignInError';
  /** Status of the response: 400 when a retry can help, 403 when it cannot, 502 for a failure of the identity provider. */
  readonly status: 400 | 403 | 502;
  /** Shown below the message: what the identity provider sent, if the operator wants to see it. */
  readonly received: string | undefined;

  constructor(status: 400 | 403 | 502, message: string, received?: string) {
    super(message);
    this.status = status;
    this.received = received;
  }
}
