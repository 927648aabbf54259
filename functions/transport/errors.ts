/** The other side did not answer, or answered that it cannot just now. Worth another try. */
export class TransportError extends Error {
  override name = 'TransportError';
}

/** The other side understood and refused. Another try would be refused as well. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly status: number;
  /** As storage calls it, e.g. `ExpiredToken`. */
  readonly code: string | undefined;
  constructor(message: string, status: number, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The credentials that signed a URL have ended before the URL has: answered with 400 (S3: error responses). */
const deadCredentials = ['ExpiredToken', 'InvalidToken', 'TokenRefreshRequired'];

/** A presigned URL that was used too late, as storage says it. */
export const isExpired = (error: unknown): boolean =>
  error instanceof RefusedError && (error.status === 403 || deadCredentials.includes(error.code ?? ''));

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
