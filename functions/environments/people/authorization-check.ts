import * as v from 'valibot';
import { isOwner, type Rights, rightsIn } from '../access.ts';
import { ok } from '../host/answers.ts';
import { readBody } from '../host/body.ts';
import { CoderError } from '../host/errors.ts';
import type { Call } from '../host/route.ts';
import { uuidOf } from '../host/uuid.ts';
import { findOrganization } from './users.ts';

/** The caller's rights, for clients that hide unavailable actions. */

const maxChecks = 50;

const check = v.object({
  object: v.object({
    resource_type: v.string(),
    organization_id: v.nullish(v.string()),
    owner_id: v.nullish(v.string()),
    resource_id: v.nullish(v.string()),
  }),
  action: v.string(),
});

const body = v.object({ checks: v.record(v.pipe(v.string(), v.maxLength(100)), check) });

type Check = v.InferOutput<typeof check>;

const mayTemplate = (rights: Rights, action: string): boolean => (action === 'read' ? rights.read : rights.manage);

const mayWorkspace = (rights: Rights, action: string, isOwn: boolean): boolean => {
  if (action === 'create') return rights.create && (isOwn || rights.manage);
  return rights.read && (isOwn || rights.others);
};

const mayAct = async (call: Call, { object, action }: Check): Promise<boolean> => {
  const { resource_type: type, organization_id: named, owner_id: owner, resource_id: resourceId } = object;
  if (resourceId)
    throw new CoderError(400, 'resource_id is not supported: check the organization of the resource instead.');
  const organization = await findOrganization(call, named || 'default');
  if (!organization) return false;
  if (type === 'deployment_config' || type === 'audit_log') return isOwner(call.principal, organization.name);
  const rights = await rightsIn(call.principal, {
    organization: organization.name,
    projectId: organization.defaultProjectId,
  });
  if (type === 'template') return mayTemplate(rights, action);
  const isOwn = owner === 'me' || owner === uuidOf(call.principal.userId);
  return type === 'workspace' ? mayWorkspace(rights, action, isOwn) : false;
};

export const postAuthorizationCheck = async (call: Call) => {
  const { checks } = readBody(call.request, body);
  const entries = Object.entries(checks);
  if (entries.length > maxChecks) throw new CoderError(400, `At most ${maxChecks} checks at once.`);
  const answers: [string, boolean][] = [];
  for (const [name, check] of entries) answers.push([name, await mayAct(call, check)]);
  return ok(Object.fromEntries(answers));
};
