/** A state's failure, as Retry, Catch and the API's responses see it. */
export interface FailureFields {
  /** SendTaskFailure and Fail states may omit the error. */
  error?: string;
  cause?: string;
  /** No Retry or Catch matches States.Runtime or a state's own data over the limit (Developer Guide: errors). */
  terminal?: boolean;
  /** Reported as States.Timeout; States.HeartbeatTimeout matches too. */
  heartbeat?: boolean;
}

export class Failure extends Error {
  override name = 'Failure';
  readonly fields: FailureFields;
  /** Time of the failure, from which a Retry counts its interval. */
  readonly at: number;

  constructor(fields: FailureFields, at: number) {
    super(fields.error ?? 'failed without an error name');
    this.fields = fields;
    this.at = at;
  }
}

/** Maximum size of input, output and parameters, in bytes of JSON (Developer Guide: quotas). */
export const maxPayloadBytes = 262_144;

export const tooLarge = (json: string): boolean =>
  json.length > maxPayloadBytes || (json.length * 3 > maxPayloadBytes && Buffer.byteLength(json) > maxPayloadBytes);

/** `of` is the state's name, or `lambda` for the result of an invocation (seen on AWS). */
export const dataLimitExceeded = (of: string): FailureFields => ({
  error: 'States.DataLimitExceeded',
  cause: `The state/task '${of}' returned a result with a size exceeding the maximum number of bytes service limit.`,
});
