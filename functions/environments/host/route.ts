import type { Answer } from '#api/answer.ts';
import { addressRefused } from '#api/errors.ts';
import type { Principal } from '#api/permissions/principal.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Method } from '#api/route.ts';
import { authority } from '#public-api/authority.ts';
import { invalidQuery } from './errors.ts';

/** A request and its caller. */
export interface Call {
  request: ApiRequest;
  principal: Principal;
}

export interface Route {
  method: Method;
  path: `/${string}`;
  /** `anyone` needs no token. */
  access: 'anyone' | 'user';
  /** Maximum size of a body in bytes. */
  maxBytes?: number;
  answer(request: ApiRequest): Promise<Answer>;
}

const base = '/api/v2';

export const open = (
  method: Method,
  path: `/${string}`,
  answer: (request: ApiRequest) => Answer | Promise<Answer>,
): Route => ({ method, path: `${base}${path}`, access: 'anyone', answer: async (request) => answer(request) });

/** Rejects unknown parameters, because clients would assume that they were applied. @throws {CoderError} 400 */
const checkParameters = ({ query }: ApiRequest, supported: readonly string[]): void => {
  const unknown = [...new Set(query.keys())].filter((name) => !supported.includes(name) && query.get(name) !== '');
  if (unknown.length === 0) return;
  const choice = supported.length > 0 ? `; supported: ${supported.join(', ')}` : '';
  const validations = unknown.slice(0, 20).map((name) => {
    const field = name.slice(0, 100);
    return { field, detail: `"${field}" is not a valid query param${choice}` };
  });
  throw invalidQuery(...validations);
};

/** The handler checks permissions itself, because rights depend on the resource in the path. */
export const route = (
  method: Method,
  path: `/${string}`,
  handle: (call: Call) => Promise<Answer>,
  { maxBytes, query = [] }: { maxBytes?: number; query?: readonly string[] } = {},
): Route => ({
  method,
  path: `${base}${path}`,
  access: 'user',
  maxBytes,
  answer: async (request) => {
    const principal = await authority.authenticate(request);
    checkParameters(request, query);
    const answering = handle({ request, principal });
    await answering.catch(() => {});
    // Tells the caller that their address was rejected, instead of 404.
    const organization = await principal.refusedBy();
    if (organization !== undefined) throw addressRefused(organization, request.address);
    return answering;
  },
});

/** Action of an entry in the audit trail. */
export interface AuditedAction {
  type: string;
  action: string;
  id?: string;
  /** For readers of the trail, also after the deletion. */
  name?: string;
}

const contextOf = ({ request, principal }: Call, organization: string, { type, action, id, name }: AuditedAction) => {
  const auditAction = { type, action, parameter: undefined, creates: id === undefined };
  return { request, principal, auditAction, organization, id, name };
};

/** Runs the action after its audit record was written. 1 write. */
export const audited = (
  call: Call,
  organization: string,
  action: AuditedAction,
  handle: () => Promise<Answer>,
): Promise<Answer> => authority.withAudit(contextOf(call, organization, action), handle);

/** Records a rejected action, and returns the error to throw. 1 write. */
export const refused = async <E extends Error>(
  call: Call,
  organization: string,
  action: AuditedAction,
  error: E,
): Promise<E> => {
  await authority.recordRefusal(contextOf(call, organization, action));
  return error;
};
