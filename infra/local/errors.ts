/** An AWS service error: `name` is the code a client sees, `statusCode` the HTTP status (400 unless said). */
export class AwsError extends Error {
  readonly statusCode: number;

  constructor(code: string, message: string, statusCode = 400) {
    super(message);
    this.name = code;
    this.statusCode = statusCode;
  }
}

/** Something a person must fix before the platform can start; shown without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}
