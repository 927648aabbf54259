/** Sign-in failed; the message tells the user what to do. */
export class SignInError extends Error {
  override name = 'SignInError';
  /** Status of the response: 400 when a retry can help, 403 when it cannot, 502 for a failure of the issuer. */
  readonly status: 400 | 403 | 502;

  constructor(status: 400 | 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}
