import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A change and its audit record (decisions/0014): the record is sent right before the first write, and the change waits
 * until it is stored before it continues or responds.
 */
export interface ChangeRecord {
  /** Stores the record. Called once, for a change that must be recorded. */
  keep(): Promise<void>;
  kept?: Promise<void>;
  /** Ids created meanwhile, in order: the first is the created resource's. */
  ids: string[];
}

const current = new AsyncLocalStorage<ChangeRecord | undefined>();

export const recorded = <T>(record: ChangeRecord, work: () => Promise<T>): Promise<T> => current.run(record, work);

/** Storing a record is a write too, so it has no record itself. */
export const keepRecord = (record: ChangeRecord): Promise<void> => {
  record.kept ??= current.run(undefined, () => record.keep());
  return record.kept;
};

export const noteId = (id: string): string => {
  current.getStore()?.ids.push(id);
  return id;
};

export const withRecord = async <T>(write: () => Promise<T>): Promise<T> => {
  const record = current.getStore();
  if (!record) return write();
  const isFirst = record.kept === undefined;
  const recording = keepRecord(record);
  if (!isFirst) await recording;
  const [done] = await Promise.all([write(), recording]);
  return done;
};
