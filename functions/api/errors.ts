/** JSON:API errors. `status` is a string there: a number breaks clients. */
export interface ErrorObject {
  status: string;
  title: string;
  detail?: string;
  source?: { pointer: string } | { parameter: string };
  meta?: Record<string, string>;
}

/** An error response; can be thrown anywhere below a route. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly errors: ErrorObject[];

  constructor(status: number, errors: Omit<ErrorObject, 'status'>[]) {
    super(errors.map(({ title, detail }) => detail ?? title).join('; '));
    this.status = status;
    this.errors = errors.map((error) => ({ status: String(status), ...error }));
  }
}

const apiError = (status: number, title: string, detail?: string, source?: ErrorObject['source']): ApiError =>
  new ApiError(status, [{ title, ...(detail ? { detail } : {}), ...(source ? { source } : {}) }]);

/** The request cannot be parsed, or has an invalid query. */
export const badRequest = (detail: string, parameter?: string): ApiError =>
  apiError(400, 'bad request', detail, parameter ? { parameter } : undefined);

/** Missing or invalid token only. */
export const unauthorized = (): ApiError =>
  apiError(
    401,
    'unauthorized',
    'The API token is missing or invalid. Send a valid one: "Authorization: Bearer <token>".',
  );

/** For members: Terraform's command line prints it, unlike the reason of a 404. */
export const organizationRenamed = ({ former, current }: { former: string; current: string }) =>
  new ApiError(410, [
    {
      title: 'organization renamed',
      detail: `Organization ${former} is now ${current}. Change the name in your configuration, credentials and scripts.`,
    },
  ]);

/** The organization does not accept this valid token. */
export const tokenRefused = (organization: string): ApiError =>
  apiError(
    401,
    'unauthorized',
    `Organization ${organization} does not accept tokens of users. Use a token of a team or of the organization, or sign in to the page.`,
  );

/** The token becomes valid again after its user signs in. */
export const signInNeeded = (organization: string): ApiError =>
  apiError(
    401,
    'unauthorized',
    `Your last single sign-on is older than organization ${organization} allows for API tokens. Sign in to the page once, then this token works again.`,
  );

/** The caller is a member, but neither signed in at the issuer nor has an identity there. */
export const ssoNeeded = (organization: string): ApiError =>
  apiError(
    401,
    'unauthorized',
    `Organization ${organization} requires single sign-on. Sign in with it on the page; your API tokens work there from then on.`,
  );

/** A directory ended the membership after the token was created. */
export const olderToken = (organization: string): ApiError =>
  apiError(
    401,
    'unauthorized',
    `This token is older than your membership of organization ${organization}. Sign in again, or create a new token.`,
  );

/** The token's lifetime exceeds the organization's token TTL policy. */
export const tooLongToken = (organization: string): ApiError =>
  apiError(
    401,
    'unauthorized',
    `This token is valid for longer than the token TTL policies of organization ${organization} allow. Create one with an earlier expiry.`,
  );

/** The caller is a member, but cannot call from this address. */
export const addressRefused = (organization: string, address: string | undefined): ApiError =>
  apiError(
    403,
    'forbidden',
    `The IP address of this request${address ? `, ${address},` : ''} is not in the IP allowlist of organization ${organization}. Use a permitted network, or ask an owner to add the address.`,
  );

/** The caller may see the resource but lacks the permission for this action. */
export const forbidden = (detail: string): ApiError => apiError(403, 'forbidden', detail);

/** The resource does not exist, or the caller may not know that it does. */
export const notFound = (detail?: string): ApiError => apiError(404, 'not found', detail);

export const deletedMeanwhile = (noun: string): ApiError => notFound(`The ${noun} was deleted at the same time.`);

export const conflict = (detail: string, title = 'conflict'): ApiError => apiError(409, title, detail);

/** @param edited last editor and time of the change (UTC, ISO 8601), if known */
export const outdated = (noun: string, edited?: { by: string; at: string }): ApiError =>
  new ApiError(412, [
    {
      title: 'precondition failed',
      detail: `${
        edited ? `${edited.by} changed the ${noun} at ${edited.at}` : `The ${noun} was changed`
      }, since the version in If-Match. Read it again, then repeat the change.`,
      ...(edited ? { meta: { 'changed-by': edited.by, 'changed-at': edited.at } } : {}),
    },
  ]);

export const unavailable = (detail: string): ApiError => apiError(503, 'service unavailable', detail);

export const tooMuch = (detail: string): ApiError => apiError(413, 'payload too large', detail);

export const tooLong = (detail: string): ApiError => apiError(414, 'URI too long', detail);

export const unsupported = (detail: string): ApiError => apiError(415, 'unsupported media type', detail);

/** @param limit requests per second */
export const tooMany = (limit: number): ApiError =>
  apiError(
    429,
    'Too many requests',
    `You have exceeded the API's rate limit of ${limit} requests per second. Wait a second, then retry.`,
  );

/** An invalid value; `pointer` is its JSON pointer in the body. */
export const unprocessable = (pointer: string, detail: string): ApiError =>
  apiError(422, 'invalid attribute', detail, { pointer });

export const nameTaken = (): ApiError => unprocessable('/data/attributes/name', 'Name has already been taken');
export const keyTaken = (): ApiError => unprocessable('/data/attributes/key', 'Key has already been taken');
