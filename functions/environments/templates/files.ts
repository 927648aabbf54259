import { getObject, putObject } from '#platform/store/bucket.ts';
import { checkContent, sha256Of } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import { create, get } from '#platform/store/table.ts';
import { newUuid } from '../host/uuid.ts';
import { keys } from '../keys.ts';
import { compress, decompress } from './archive.ts';

/** Uploaded archives; each is stored once per user. */

export interface File {
  id: string;
  createdBy: string;
  createdAt: string;
  /** Hex, of the tar file. */
  sha256: string;
  /** The gzipped tar file for runs. */
  archive: { key: string; sha256: string };
}

export const getFile = (id: string): Promise<File | undefined> => get<File>(keys.file(id));

const existingFile = async (userId: string, sha256: string): Promise<File | undefined> => {
  const pointer = await get<{ fileId: string }>(keys.fileOfUser(userId, sha256));
  return pointer && getFile(pointer.fileId);
};

/** 2 reads, and for a new file 1 object and 2 writes. */
export const storeFile = async (userId: string, tar: Buffer): Promise<{ file: File; isNew: boolean }> => {
  const sha256 = sha256Of(tar);
  const before = await existingFile(userId, sha256);
  if (before) return { file: before, isNew: false };
  const id = newUuid();
  const packed = compress(tar);
  const packedSha256 = sha256Of(packed);
  const archive = { key: objects.configuration(`file-${id}`, packedSha256), sha256: packedSha256 };
  await putObject(archive.key, packed, 'application/gzip', archive.sha256);
  const file: File = { id, createdBy: userId, createdAt: new Date().toISOString(), sha256, archive };
  await create({ ...keys.file(id), ...file });
  if (await create({ ...keys.fileOfUser(userId, sha256), fileId: id })) return { file, isNew: true };
  return { file: (await existingFile(userId, sha256)) ?? file, isNew: false };
};

/** The tar file. Undefined when its content was deleted. @throws {DamagedContentError} */
export const readFileContent = async ({ id, archive }: Pick<File, 'id' | 'archive'>): Promise<Buffer | undefined> => {
  const packed = await getObject(archive.key);
  if (!packed) return undefined;
  checkContent(`File ${id}`, packed, archive.sha256);
  return decompress(packed);
};
