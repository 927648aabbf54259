import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { AwsError } from '#infra/local/host/errors.ts';

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
