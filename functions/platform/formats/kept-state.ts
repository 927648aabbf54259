import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KeptStateKey } from '#run/protocols/runner.ts';

/**
 * A state that could not be uploaded, encrypted on the runner's disk. This is the last resort: the runner's disk keeps
 * no other state after the run. The key is in the job, and the runner does not store it. Only the platform, which
 * receives the file later (runner/api/kept-states.ts), can decrypt it. Code of the run cannot forge a file, because it
 * never has the key.
 *
 * File: a line of JSON, then initialization vector (12 bytes), tag (16), ciphertext (AES-256-GCM, with the line as
 * additional authenticated data).
 */

export interface KeptStateHeader {
  runId: string;
  sealed: string;
}

const ivBytes = 12;

const tagBytes = 16;

/** The whole file. */
export const sealState = (content: Buffer, runId: string, { key, sealed }: KeptStateKey): Buffer => {
  const header = Buffer.from(`${JSON.stringify({ runId, sealed } satisfies KeptStateHeader)}\n`);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'base64'), iv).setAAD(header);
  const ciphertext = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([header, iv, cipher.getAuthTag(), ciphertext]);
};

/** @throws {Error} for a file in another format; `open` throws for another key, or if the file was altered */
export const readKeptState = (bytes: Buffer): KeptStateHeader & { open(key: Buffer): Buffer } => {
  const end = bytes.indexOf('\n') + 1;
  const header = bytes.subarray(0, end);
  const { runId, sealed } = JSON.parse(header.toString('utf8')) as KeptStateHeader;
  const [iv, tag] = [bytes.subarray(end, end + ivBytes), bytes.subarray(end + ivBytes, end + ivBytes + tagBytes)];
  return {
    runId,
    sealed,
    open(key) {
      const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(header).setAuthTag(tag);
      return Buffer.concat([decipher.update(bytes.subarray(end + ivBytes + tagBytes)), decipher.final()]);
    },
  };
};
