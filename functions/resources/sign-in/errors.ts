/** Somebody cannot be signed in; the message is for that person, and says what to do. */
export class SignInError extends Error {
  override name = 'SignInError';
  /** Of the answer: 400 when it may be tried again, 403 when that would not help, 502 when it is the issuer's. */
  readonly status: 400 | 403 | 502;

  constructor(status: 400 | 403 | 502, message: string) {
    super(message);
    this.status = status;
  }
}
