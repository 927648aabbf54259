import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Database } from '#infra/local/host/database.ts';
import { AwsError } from '#infra/local/host/errors.ts';

export interface Attributes {
  /** MD5 in hex. */
  etag: string;
  /** In base64; only of objects that were uploaded with one. */
  sha256?: string;
  headers: Record<string, string>;
}

export interface StoredObject extends Attributes {
  /** Bytes of the content. */
  size: number;
  modifiedAt: Date;
  content: Content;
}

/** Content that can be received: bytes, in pieces. */
export type Source = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Small content, deflated if it is shorter than the object, or the name of a file. */
type Content = Uint8Array | string;

interface Row {
  size: number;
  /** Milliseconds since 1970. */
  modified: number;
  attributes: string;
  content: Content;
}

/** SQLite reads and writes contents up to some 100 KB faster than a file system (sqlite.org/intern-v-extern-blob.html). */
const smallBytes = 64 * 1024;

/**
 * Objects in the database; the content of a large one is a file, which is never changed, exists before its row and is
 * removed after it.
 */
export class Objects {
  readonly #db: Database;
  readonly #folder: string;

  constructor(db: Database, folder: string) {
    this.#db = db;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    db.define(
      'CREATE TABLE IF NOT EXISTS objects (bucket TEXT NOT NULL, key TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, attributes TEXT NOT NULL, content ANY NOT NULL, UNIQUE (bucket, key)) STRICT',
    );
    this.#removeOrphans();
  }

  /** Files without a row: the process ended between the write of one and of the other. */
  #removeOrphans(): void {
    const rows = this.#db.statement("SELECT content FROM objects WHERE typeof(content) = 'text'").all();
    const named = new Set(rows.map(({ content }) => content));
    for (const name of readdirSync(this.#folder)) if (!named.has(name)) rmSync(join(this.#folder, name));
  }

  get(bucket: string, key: string): StoredObject | undefined {
    const row = this.#row(bucket, key);
    if (!row) return undefined;
    const { size, modified, attributes, content } = row;
    return { ...(JSON.parse(attributes) as Attributes), size, modifiedAt: new Date(modified), content };
  }

  #row(bucket: string, key: string): Row | undefined {
    return this.#db
      .statement('SELECT size, modified, attributes, content FROM objects WHERE bucket = ? AND key = ?')
      .get(bucket, key) as Row | undefined;
  }

  /** Keys with a prefix, in the order of their UTF-8 bytes. */
  keys(bucket: string, prefix: string): string[] {
    const keys: string[] = [];
    const select = this.#db.statement('SELECT key FROM objects WHERE bucket = ? AND key >= ? ORDER BY key');
    for (const { key } of select.iterate(bucket, prefix) as Iterable<{ key: string }>) {
      if (!key.startsWith(prefix)) break;
      keys.push(key);
    }
    return keys;
  }

  /**
   * Writes an object at once when all of its content was received.
   * @param attributesOf called after the last byte; what it throws leaves the former object
   * @param isNew refuses to replace an object
   * @throws AwsError PreconditionFailed
   */
  async put(bucket: string, key: string, source: Source, attributesOf: () => Attributes, isNew: boolean) {
    const incoming = new Incoming(this.#folder);
    try {
      for await (const chunk of source) await incoming.add(chunk);
      const attributes = JSON.stringify(attributesOf());
      if (attributes.length > maxAttributes)
        throw new AwsError('MetadataTooLarge', 'The headers of the object are too long.');
      const content = await incoming.end();
      const before = this.#row(bucket, key);
      if (before && isNew) throw preconditionFailed();
      this.#db.writeOne(() =>
        this.#db
          .statement('INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)')
          .run(bucket, key, incoming.size, Date.now(), attributes, content),
      );
      await this.#db.written();
      if (before) await this.#removeContent(before);
    } catch (error) {
      await incoming.drop();
      throw error;
    }
  }

  async delete(bucket: string, key: string): Promise<void> {
    const before = this.#row(bucket, key);
    if (!before) return;
    this.#db.writeOne(() => this.#db.statement('DELETE FROM objects WHERE bucket = ? AND key = ?').run(bucket, key));
    await this.#db.written();
    await this.#removeContent(before);
  }

  async #removeContent({ content }: Row): Promise<void> {
    if (typeof content === 'string') await rm(join(this.#folder, content), { force: true });
  }

  /**
   * Content from a byte on: a buffer if it is small, otherwise a stream, which stays readable if the object is replaced.
   * @throws AwsError if its file is missing or was cut off
   */
  async contentOf({ content, size }: StoredObject, from = 0, length = size): Promise<Buffer | Readable> {
    if (typeof content !== 'string') {
      const { buffer, byteOffset } = whole(content, size);
      return Buffer.from(buffer, byteOffset + from, length);
    }
    const file = await open(join(this.#folder, content)).catch((error: Error) => damaged(content, error.message));
    const { size: actual } = await file.stat();
    if (actual === size && length > 0) return file.createReadStream({ start: from, end: from + length - 1 });
    await file.close();
    return length === 0 ? Buffer.alloc(0) : damaged(content, `it has ${actual} of ${size} bytes`);
  }
}

const shortest = (content: Buffer): Uint8Array => {
  const deflated = deflateRawSync(content);
  return deflated.length < content.length ? deflated : content;
};

const whole = (content: Uint8Array, size: number): Uint8Array =>
  content.length < size ? inflateRawSync(content) : content;

const maxAttributes = 1024;

export const preconditionFailed = () =>
  new AwsError('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', 412);

const damaged = (file: string, why: string): never => {
  throw new AwsError('InternalError', `The object in ${file} is damaged: ${why}`, 500);
};

/** Content that arrives: in memory while it is small, then in a file. */
class Incoming {
  readonly #folder: string;
  readonly #name = randomUUID();
  #chunks: Uint8Array[] = [];
  #file: FileHandle | undefined;
  size = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.size += chunk.length;
    this.#chunks.push(chunk);
    if (this.size <= smallBytes) return;
    this.#file ??= await open(join(this.#folder, this.#name), 'wx', 0o600);
    await this.#file.writev(this.#chunks);
    this.#chunks = [];
  }

  async end(): Promise<Content> {
    if (!this.#file) return shortest(Buffer.concat(this.#chunks));
    await this.#file.close();
    return this.#name;
  }

  async drop(): Promise<void> {
    if (!this.#file) return;
    await this.#file.close();
    await rm(join(this.#folder, this.#name), { force: true });
  }
}
