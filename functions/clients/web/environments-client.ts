import { ApiError } from '#clients/client/client.ts';

/** Requests to the environments' API (Coder's), whose documents and errors have another format than those of runs. */

interface Refusal {
  message?: string;
  detail?: string;
  validations?: { field: string; detail: string }[];
}

const parsed = (text: string): Refusal => {
  try {
    return JSON.parse(text) as Refusal;
  } catch {
    return {};
  }
};

/** In the page's error format: an error about one field is shown next to that field. */
const errorOf = (method: string, path: string, status: number, text: string): ApiError => {
  const { message = '', detail, validations = [] } = parsed(text);
  const [first, ...more] = validations;
  const reasons = [
    message,
    detail,
    ...validations.map((validation) => `${validation.field}: ${validation.detail}`),
  ].filter(Boolean);
  const source = first && more.length === 0 ? { source: { pointer: `/${first.field}` } } : {};
  const errors = message ? [{ status: String(status), title: message, detail: reasons.join(' '), ...source }] : [];
  return new ApiError(method, path, status, JSON.stringify({ errors }));
};

export interface EnvironmentsAccess {
  base: string;
  authorization: Record<string, string>;
}

/**
 * Requests with functions of their own (infra/functions/environment-builds.ts, environment-templates.ts), by the part
 * of the path that routes to them.
 */
const parts: Record<string, RegExp> = {
  '/builds':
    /^POST \/(workspaces\/[^/]+\/builds|users\/[^/]+\/workspaces|organizations\/[^/]+\/members\/[^/]+\/workspaces)$|^\w+ \/workspacebuilds\/[^/]+\/(cancel|state)(?![^?])/,
  '/templates':
    /^\w+ \/(templates|templateversions|organizations\/[^/]+\/templates|organizations\/[^/]+\/templateversions)(?![^/?])/,
};

const partFor = (method: string, path: string): string =>
  Object.keys(parts).find((part) => parts[part]?.test(`${method} ${path}`)) ?? '';

/** @throws {ApiError} for 4xx and 5xx */
export const requestEnvironments = async <T>(
  access: EnvironmentsAccess,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> => {
  const response = await fetch(`${access.base}/environments${partFor(method, path)}/api/v2${path}`, {
    method,
    headers: { ...access.authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  });
  const text = await response.text();
  // 304: the change has no effect, which is not an error.
  if (response.status === 304 || (response.ok && text === '')) return undefined as T;
  if (!response.ok) throw errorOf(method, path, response.status, text);
  return JSON.parse(text) as T;
};
