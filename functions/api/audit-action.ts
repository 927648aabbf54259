const verbs: Record<string, string> = {
  GET: 'show',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'destroy',
};

const plain = (text: string): string => text.replaceAll('-', '_');

const singular = (collection: string): string => plain(collection.replace(/ies$/, 'y').replace(/s$/, ''));

/** Names from HCP's API (HCP API: audit trails): `workspace lock`, `var create`. */
export interface AuditAction {
  type: string;
  action: string;
  /** The path parameter that names the resource; for a new resource, its parent. */
  parameter: string | undefined;
  creates: boolean;
}

/** Path segments after a resource that name an action on it, not a new resource. */
const actionSegments = new Set(['actions', 'relationships', 'cancel', 'force-cancel']);

/** @param path of a route, with its parameters in braces */
export const auditActionOf = (method: string, path: string): AuditAction => {
  const parts = path.replace(/^\/(api\/v2\/)?(admin\/)?/, '').split('/');
  const last = parts.findLastIndex((part) => part.startsWith('{'));
  const parameter = parts[last]?.slice(1, -1);
  // A module address has a parameter for each of its parts.
  const owner = singular(parts.slice(0, Math.max(1, last)).findLast((part) => !part.startsWith('{')) ?? '');
  const verb = verbs[method] ?? method;
  const [first, ...rest] = parts.slice(Math.max(1, last + 1));
  const onOwner = { type: owner, parameter, creates: false };
  if (method === 'POST' && !actionSegments.has(first ?? '')) {
    const type = singular(parts.at(-1) ?? '');
    return {
      type: type === 'task' && owner === 'workspace' ? 'workspace_task' : type,
      action: 'create',
      parameter,
      creates: true,
    };
  }
  if (first === undefined) return { ...onOwner, action: verb };
  if (first === 'actions') return { ...onOwner, action: plain(rest.join('_')) };
  if (first === 'relationships') return { ...onOwner, action: `${verb}_${plain(rest.join('_'))}` };
  return { ...onOwner, action: plain([first, ...rest].join('_')) };
};

/** Reads of secrets: complete states, outputs, plans and configurations. */
const secret = /\/(download|json-download|json-output)$|\/state-version-outputs\/\{\w+\}$/;

export const isAudited = (method: string, path: string): boolean => method !== 'GET' || secret.test(path);
