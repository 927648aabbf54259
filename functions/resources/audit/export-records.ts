import { dueIn } from '#platform/store/due.ts';
import { setOrRemove } from '#platform/store/edits.ts';
import { keys } from '#platform/store/keys.ts';
import { open, seal } from '#platform/store/secrets.ts';
import { create, get, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';

/** Export of an organization's audit trail to an HTTP endpoint, in numbered batches. */
export interface AuditExport {
  organization: string;
  url: string;
  /** Names of the additional headers, and the headers as JSON: encrypted, because they hold credentials. */
  headerNames: string[];
  sealedHeaders?: Uint8Array;
  createdAt: string;
  /** Number of the last delivered batch; 0 before the first. */
  sequence: number;
  /** Events until this time were delivered. UTC, ISO 8601. */
  until: string;
  deliveredAt?: string;
  /** End of the batch in delivery, so that a repetition sends the same events. */
  sendingUntil?: string;
  /** Reason of the last attempt's failure, and the time of the first attempt that failed since the last delivery. */
  failure?: string;
  failingSince?: string;
}

const contextOf = (organization: string) => ({ organization, auditExport: 'headers' });

export const getAuditExport = (organization: string): Promise<AuditExport | undefined> =>
  get<AuditExport>(keys.auditExport(organization));

/**
 * Sets the endpoint. The sequence continues; the first export begins with events from now on. 2 writes, and 1 KMS request
 * with headers.
 */
export const setAuditExport = async (
  organization: string,
  url: string,
  headers: Record<string, string>,
): Promise<AuditExport> => {
  const headerNames = Object.keys(headers);
  const sealedHeaders = headerNames.length ? await seal(JSON.stringify(headers), contextOf(organization)) : undefined;
  const createdAt = now();
  const key = keys.auditExport(organization);
  const endpoint = { url, headerNames, sealedHeaders };
  const first: AuditExport = { organization, ...endpoint, createdAt, sequence: 0, until: createdAt };
  await create({ ...key, ...first });
  const updated = await updateExisting<AuditExport>(key, setOrRemove({ ...endpoint, ...dueIn(organization, 60) }));
  return updated ?? first;
};

export const headersOf = async ({ organization, sealedHeaders }: AuditExport): Promise<Record<string, string>> =>
  sealedHeaders ? JSON.parse(await open(sealedHeaders, contextOf(organization))) : {};

export const endAuditExport = (organization: string): Promise<unknown> => remove(keys.auditExport(organization));

/** Undefined when the export was ended, or another delivery is further on. 1 write. */
export const moveExport = (
  { organization, createdAt, sequence }: AuditExport,
  set: Partial<AuditExport>,
  { dueInSeconds, remove = [] }: { dueInSeconds: number; remove?: (keyof AuditExport)[] },
): Promise<AuditExport | undefined> =>
  update<AuditExport>(keys.auditExport(organization), {
    set: { ...set, ...dueIn(organization, dueInSeconds) },
    remove,
    condition: 'createdAt = :createdAt AND #sequence = :before',
    names: { '#sequence': 'sequence' },
    values: { ':createdAt': createdAt, ':before': sequence },
  });
