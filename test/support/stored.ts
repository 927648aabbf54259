import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inflateRawSync } from 'node:zlib';
import { databaseFile } from '#infra/local/host/database.ts';
import { unpacked } from '#infra/local/host/packed.ts';

/** What a data folder contains: its files, and the items, objects and journals of its database by their own places. */

export interface Stored {
  /** `items/<partition key>/<sort key>`, `s3/<bucket>/<key>` or `journals/<arn>`. */
  place: string;
  content: Buffer;
  /** The object's own file, if it is large. */
  file?: string;
}

/** Reads also while the platform runs. */
export const storedIn = (dataDir: string): Stored[] => {
  const db = new DatabaseSync(join(dataDir, databaseFile), { readOnly: true, timeout: 5000 });
  try {
    const objects = db
      .prepare('SELECT bucket, key, size, content FROM objects')
      .all()
      .flatMap(({ bucket, key, size, content }) => {
        const place = `s3/${bucket}/${key}`;
        if (typeof content !== 'string') {
          const bytes = Buffer.from(content as Uint8Array);
          return [{ place, content: bytes.length < Number(size) ? inflateRawSync(bytes) : bytes }];
        }
        const file = join(dataDir, 's3', content);
        return [{ place, content: readFileSync(file), file }];
      });
    const journals = db
      .prepare('SELECT arn, lines FROM journals')
      .all()
      .map(({ arn, lines }) => ({
        place: `journals/${arn}`,
        content: Buffer.from(String(lines)),
      }));
    const ended = db
      .prepare('SELECT arn, journal FROM executions WHERE journal IS NOT NULL')
      .all()
      .map(({ arn, journal }) => ({
        place: `journals/${arn}`,
        content: Buffer.from(unpacked(journal as string | Uint8Array)),
      }));
    const items = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'items %'")
      .all()
      .flatMap(({ name }) => db.prepare(`SELECT hash, range, item FROM "${name}"`).all())
      .map(({ hash, range, item }) => ({
        place: `items/${hash}/${range}`,
        content: Buffer.from(unpacked(item as string | Uint8Array)),
      }));
    return [...items, ...objects, ...journals, ...ended];
  } finally {
    db.close();
  }
};

/** Paths of all files below a folder. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) return [];
    return stats.isDirectory() ? filesBelow(path) : stats.isFile() ? [path] : [];
  });

/** Files by their paths, then objects and journals; a large object counts once. */
export const contentsOf = (dataDir: string): Omit<Stored, 'file'>[] => {
  const stored = storedIn(dataDir);
  const own = new Set(stored.map(({ file }) => file));
  const others = filesBelow(dataDir).filter((path) => !own.has(path));
  return [...others.map((place) => ({ place, content: readFileSync(place) })), ...stored];
};
