import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { AwsError } from '#infra/local/host/errors.ts';

/** An object is one file: its content, then its attributes in a trailer of fixed length. */

/** No path segment contains `=`, so that an object and a folder never have the same name. */
export const fileName = (part: string): string => {
  try {
    return encodeURIComponent(part);
  } catch {
    throw new AwsError('InvalidURI', 'The key is not valid Unicode.');
  }
};
export const objectSuffix = '=';

export interface Attributes {
  /** MD5 in hex. */
  etag: string;
  /** In base64; only of objects that were uploaded with one. */
  sha256?: string;
  headers: Record<string, string>;
}

export interface Opened extends Attributes {
  file: FileHandle;
  /** Bytes of the content. */
  size: number;
  modifiedAt: Date;
}

const trailerBytes = 1024;

export const trailerOf = (attributes: Attributes): Buffer => {
  const text = Buffer.from(JSON.stringify(attributes));
  if (text.length > trailerBytes) throw new AwsError('MetadataTooLarge', 'The headers of the object are too long.');
  return Buffer.concat([text], trailerBytes);
};

export const openObject = async (path: string): Promise<Opened | undefined> => {
  const file = await open(path).catch(unlessMissing);
  if (!file) return undefined;
  try {
    const { size, mtime } = await file.stat();
    const trailer = Buffer.alloc(trailerBytes);
    await file.read(trailer, 0, trailerBytes, size - trailerBytes);
    const attributes = JSON.parse(trailer.toString('utf8').replace(/\0+$/, '')) as Attributes;
    return { ...attributes, file, size: size - trailerBytes, modifiedAt: mtime };
  } catch (error) {
    await file.close();
    throw new AwsError('InternalError', `The object in ${path} is damaged: ${(error as Error).message}`, 500);
  }
};

export const unlessMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** The handle is closed with the stream. */
export const contentOf = ({ file, size }: Opened, from = 0, length = size): Readable =>
  length === 0 ? Readable.from([]) : file.createReadStream({ start: from, end: from + length - 1 });

/** Read again: unlike S3, a disk may damage content, and callers compare the checksum with the recorded one. */
export const actualSha256 = async (object: Opened): Promise<string> => {
  const digests = new Digests();
  for await (const chunk of contentOf(object)) digests.update(chunk);
  return digests.check({}).sha256.toString('base64');
};

export class Digests {
  readonly #md5 = createHash('md5');
  readonly #sha256 = createHash('sha256');
  #crc32 = 0;
  size = 0;

  update(chunk: Uint8Array): void {
    this.size += chunk.length;
    this.#md5.update(chunk);
    this.#sha256.update(chunk);
    this.#crc32 = crc32(chunk, this.#crc32);
  }

  /** @throws AwsError if the content does not match the headers */
  check(headers: IncomingHttpHeaders): { md5: Buffer; sha256: Buffer } {
    const [md5, sha256] = [this.#md5.digest(), this.#sha256.digest()];
    const crc = Buffer.alloc(4);
    crc.writeUInt32BE(this.#crc32);
    const actual: [header: string, code: string, digest: string][] = [
      ['content-md5', 'BadDigest', md5.toString('base64')],
      ['x-amz-checksum-sha256', 'BadDigest', sha256.toString('base64')],
      ['x-amz-checksum-crc32', 'BadDigest', crc.toString('base64')],
      ['x-amz-content-sha256', 'XAmzContentSHA256Mismatch', sha256.toString('hex')],
    ];
    for (const [name, code, digest] of actual) {
      const announced = headers[name] ?? digest;
      if (announced !== digest && announced !== 'UNSIGNED-PAYLOAD')
        throw new AwsError(code, `The ${name} you specified did not match what we received.`);
    }
    return { md5, sha256 };
  }
}
