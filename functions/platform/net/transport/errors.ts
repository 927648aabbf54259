/** The service did not respond, or is temporarily unavailable. Worth a retry. */
export class TransportError extends Error {
  override name = 'TransportError';
}

/** The request was rejected. A retry would be rejected too. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly status: number;
  /** Storage's error code, e.g. `ExpiredToken`. */
  readonly code: string | undefined;
  constructor(message: string, status: number, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Codes of S3's 400 response if the credentials that signed a URL expired before the URL (S3: error responses). */
const deadCredentials = ['ExpiredToken', 'InvalidToken', 'TokenRefreshRequired'];

/** Whether storage rejected a presigned URL because it has expired. */
export const isExpired = (error: unknown): boolean =>
  error instanceof RefusedError && (error.status === 403 || deadCredentials.includes(error.code ?? ''));

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
