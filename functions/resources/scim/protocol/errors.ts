import type { ApiError } from '#api/errors.ts';

/** Kinds of errors (RFC 7644 §3.12). */
type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness';

/** An error response to a directory; can be thrown anywhere below a route of SCIM. */
export class ScimError extends Error {
  override name = 'ScimError';
  readonly status: number;
  readonly scimType: ScimType | undefined;

  constructor(status: number, detail: string, scimType?: ScimType) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export const invalidValue = (detail: string): ScimError => new ScimError(400, detail, 'invalidValue');
export const invalidPath = (detail: string): ScimError => new ScimError(400, detail, 'invalidPath');
export const invalidFilter = (detail: string): ScimError => new ScimError(400, detail, 'invalidFilter');
export const invalidSyntax = (detail: string): ScimError => new ScimError(400, detail, 'invalidSyntax');
export const readOnly = (attribute: string): ScimError =>
  new ScimError(400, `${attribute} cannot be changed.`, 'mutability');
export const taken = (detail: string): ScimError => new ScimError(409, detail, 'uniqueness');

/** Unlike 403 and 404 of the API, says nothing about the configuration in the path. */
export const noToken = (): ScimError =>
  new ScimError(401, 'Send a valid token of this organization\'s SCIM configuration: "Authorization: Bearer <token>".');

export const missing = (noun: string, id: string): ScimError => new ScimError(404, `${noun} ${id} not found.`);

export const outdated = (noun: string): ScimError =>
  new ScimError(412, `The ${noun} was changed since the version in If-Match. Read it again, then repeat the change.`);

export const ofApi = ({ status, message }: ApiError): ScimError => {
  if (status === 422) return invalidValue(message);
  return status === 400 ? invalidSyntax(message) : new ScimError(status, message);
};
