const verbs: Record<string, string> = {
  GET: 'show',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'destroy',
};

const plain = (text: string): string => text.replaceAll('-', '_');

const singular = (collection: string): string => plain(collection.replace(/ies$/, 'y').replace(/s$/, ''));

/** In the API's own words (HCP API: audit trails): `workspace lock`, `var create`. */
export interface AuditAction {
  type: string;
  action: string;
  /** The path parameter that names it, or for what is created, what it is created in. */
  parameter: string | undefined;
  creates: boolean;
}

/** What stands after what something is done to, in place of what is created there. */
const deeds = new Set(['actions', 'relationships', 'cancel', 'force-cancel']);

/** @param path of a route, with its parameters in braces */
export const auditActionOf = (method: string, path: string): AuditAction => {
  const parts = path.replace(/^\/(api\/v2\/)?/, '').split('/');
  const last = parts.findLastIndex((part) => part.startsWith('{'));
  const parameter = last < 0 ? undefined : parts[last]?.slice(1, -1);
  // What is named by an address has a parameter for each part of it.
  const owner = singular(parts.slice(0, Math.max(1, last)).findLast((part) => !part.startsWith('{')) ?? '');
  const verb = verbs[method] ?? method;
  const [first, ...rest] = parts.slice(last < 0 ? 1 : last + 1);
  const deed = { type: owner, parameter, creates: false };
  if (method === 'POST' && !deeds.has(first ?? '')) {
    const type = singular(parts.at(-1) ?? '');
    return {
      type: type === 'task' && owner === 'workspace' ? 'workspace_task' : type,
      action: 'create',
      parameter,
      creates: true,
    };
  }
  if (first === undefined) return { ...deed, action: verb };
  if (first === 'actions') return { ...deed, action: plain(rest.join('_')) };
  if (first === 'relationships') return { ...deed, action: `${verb}_${plain(rest.join('_'))}` };
  return { ...deed, action: plain([first, ...rest].join('_')) };
};

/** Reads of what is secret: states and outputs as they are, plans in full, configurations. */
const secret = /\/(download|json-download|json-output)$|\/state-version-outputs\/\{\w+\}$/;

export const isAudited = (method: string, path: string): boolean => method !== 'GET' || secret.test(path);
