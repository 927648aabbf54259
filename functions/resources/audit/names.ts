import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get } from '#platform/store/table.ts';
import type { AuditEvent } from './records.ts';

/** Adds the names of existing resources to audit events, so that readers need not look up ids. */

const keysOf: Record<string, (id: string, workspaceId: string | undefined) => Key | undefined> = {
  agent_pool: keys.agentPool,
  policy: keys.policy,
  policy_set: keys.policySet,
  project: keys.project,
  registry_module: keys.module,
  run: keys.run,
  ssh_key: keys.sshKey,
  task: keys.task,
  team: keys.team,
  var: (id, workspaceId) => (workspaceId === undefined ? undefined : keys.variable(workspaceId, id)),
  varset: keys.variableSet,
};

const keyOf = ({ resource: { type, id }, meta }: AuditEvent): Key | undefined =>
  id === null ? undefined : keysOf[type]?.(id, meta?.workspace_id);

interface Named extends Key {
  /** Absent on variables, whose workspace is in the trail's organization. */
  organization?: string;
  deletedAt?: string;
  name?: string;
  /** Message of a run. */
  message?: string;
  /** Key of a variable. */
  key?: string;
}

const longestName = 80;

const nameFrom = (item: Named | undefined, { organization, resource }: AuditEvent): string | undefined => {
  const isHere = item && !item.deletedAt && (item.organization === organization || resource.type === 'var');
  const name = isHere ? (item.name ?? item.message ?? item.key)?.split('\n')[0] : undefined;
  return name && name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;
};

/** Current name of the event's resource. 1 read. */
export const nameOfResource = async (event: AuditEvent): Promise<string | undefined> => {
  const key = keyOf(event);
  return key && nameFrom(await get<Named>(key), event);
};

/**
 * Adds the name of each event's resource to `meta`: the current one, or that of a deleted resource when the event was
 * recorded. Leaves out resources of other organizations, whose ids a caller can put into a path. 1 read per 100
 * resources.
 */
export const withNames = async (events: AuditEvent[]): Promise<AuditEvent[]> => {
  const items = await batchGet<Named>(events.flatMap((event) => keyOf(event) ?? []));
  const byKey = new Map(items.map((item) => [`${item.pk} ${item.sk}`, item]));
  return events.map((event) => {
    const key = keyOf(event);
    const name = nameFrom(key && byKey.get(`${key.pk} ${key.sk}`), event) ?? event.name;
    return name ? { ...event, meta: { ...event.meta, name } } : event;
  });
};
