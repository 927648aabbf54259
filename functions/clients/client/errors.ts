/** Errors of the client. */

export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly errors: {
    status: string;
    title: string;
    detail?: string;
    source?: { pointer: string };
    meta?: Record<string, string>;
  }[];
  constructor(method: string, path: string, status: number, body: string) {
    let errors: ApiError['errors'] = [];
    try {
      errors = JSON.parse(body).errors ?? [];
    } catch {
      // Proxies may respond without JSON.
    }
    const reasons = errors.map(({ title, detail }) => (detail ? `${title}: ${detail}` : title)).join('; ');
    super(`${method} ${path}: ${status} ${reasons || body.slice(0, 300)}`);
    this.status = status;
    this.errors = errors;
  }
}

/** The server did not respond. The network error is the cause. */
export class UnreachableError extends TypeError {
  override name = 'UnreachableError';
  readonly url: string;
  constructor(url: string, cause: unknown) {
    super(`Can’t reach ${url}`, { cause });
    this.url = url;
  }
}

/** The response is not this API's, for example a web page: the address belongs to another server. */
export class ForeignServerError extends Error {
  override name = 'ForeignServerError';
  readonly url: string;
  constructor(url: string) {
    super(`${url} does not serve HCP Terraform's API`);
    this.url = url;
  }
}
