import { isTokenOf } from '#api/admission.ts';
import type { Answer } from '#api/answer.ts';
import { secretOf } from '#api/bearer.ts';
import { param } from '#api/finders.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Method } from '#api/route.ts';
import { withAudit } from '#resources/audit/trail.ts';
import { permitsCaller } from '#resources/ip-allowlists/enforcement.ts';
import { getOrganization, type Organization } from '#resources/organizations/records.ts';
import { findScimToken, recordTokenUse, type Token } from '#resources/users/tokens.ts';
import { getConfiguration, type ScimConfiguration } from './configurations.ts';
import { noToken, ScimError } from './protocol/errors.ts';
import type { ScimRoute } from './protocol/serve.ts';

/** A request of an organization's directory. */
export interface ScimCall {
  request: ApiRequest;
  configuration: ScimConfiguration;
  home: Organization;
  token: Token;
}

/**
 * Accepts only a SCIM token of the configuration's organization. 4 strongly consistent reads, so that revoked tokens
 * stop working at once, and one more with IP allowlists.
 * @throws {ScimError} 401 or 403
 */
const authenticate = async (request: ApiRequest): Promise<ScimCall> => {
  const secret = secretOf(request);
  const [token, configuration] = await Promise.all([
    findScimToken(secret),
    getConfiguration(param(request, 'scimConfiguration')),
  ]);
  if (!token || !configuration || configuration.organization !== token.organization) throw noToken();
  const home = await getOrganization(configuration.organization);
  if (!home) throw noToken();
  isTokenOf(request.header('authorization'), token.userId);
  if (home.ipAllowlists !== undefined && !(await permitsCaller(home.name, request.address))) {
    throw new ScimError(403, 'The IP address of this request is not in the IP allowlist of the organization.');
  }
  // Failing to record the use must not fail the request.
  await recordTokenUse(token, secret).catch(() => {});
  return { request, configuration, home, token };
};

type Handle = (call: ScimCall) => Promise<Answer>;

const at = (path: `/${string}`) => `/scim/v2/{scimConfiguration}${path}` as const;

/** Describes this service provider; also while provisioning is disabled. */
export const discovery = (path: `/${string}`, handle: Handle): ScimRoute => ({
  method: 'GET',
  path: at(path),
  answer: async (request) => handle(await authenticate(request)),
});

/** The action in the audit trail; absent for reads. */
interface ScimAction {
  type: 'scim_user' | 'scim_group';
  action: 'create' | 'update' | 'destroy';
}

/** Changes are recorded in the audit trail, before they are made. */
export const scimRoute = (method: Method, path: `/${string}`, handle: Handle, audited?: ScimAction): ScimRoute => ({
  method,
  path: at(path),
  answer: async (request) => {
    const call = await authenticate(request);
    if (!call.configuration.enabled) {
      throw new ScimError(403, 'Provisioning is disabled. An owner of the organization can enable it.');
    }
    if (!audited) return handle(call);
    const auditAction = { ...audited, parameter: 'id', creates: audited.action === 'create' };
    return withAudit({ request, principal: actorOf(call), auditAction, organization: call.home.name }, () =>
      handle(call),
    );
  },
});

export const actorOf = ({ token }: ScimCall) => ({ kind: 'scim' as const, userId: token.userId, tokenId: token.id });
