import { getObjectUpTo, getPart, type Part, putObject } from '#platform/store/bucket.ts';
import { keys, objects, padded } from '#platform/store/keys.ts';
import { create, query, queryAll } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isPhaseFinal } from '#run/status.ts';

/**
 * Logs of plans and applies. During the phase, pieces of up to 64 KiB are stored in the table, so that readers see
 * them at once. Afterwards, the runner's copy of the whole log is one object in the bucket, and the pieces expire.
 * Offsets count bytes from the framing STX (HCP API: log-read-url).
 */

/** Framing of a log: first and last byte. */
export const STX = 0x02;
export const ETX = 0x03;
export const maxPieceBytes = 65_536;
const keepPiecesSeconds = 7 * 24 * 3600;

interface Piece {
  pk: string;
  sk: string;
  bytes: Uint8Array;
}

/** Appends a piece; repeating it changes nothing. 1 write unit per KB. */
export const appendLog = async (runId: string, phase: PhaseName, offset: number, bytes: Uint8Array): Promise<void> => {
  await create({
    ...keys.log(runId, phase, offset),
    bytes,
    expiresAt: expiryIn(keepPiecesSeconds),
  });
};

export type LogPart = Pick<Part, 'bytes' | 'size'>;

/**
 * Up to `limit` bytes from `offset`; empty when there is no new output. The size is known once the log is stored, and
 * read for a long part that does not reach the end of a growing log.
 * @param consistent finds everything that was written before, at twice the price: for readers who do not ask again
 */
export const readLogPart = async (
  run: Run,
  phase: PhaseName,
  offset: number,
  limit: number,
  consistent = false,
): Promise<LogPart> => {
  if (run[phase].content) return instead('This log was deleted.', offset, limit);
  const { status, report, logStored } = run[phase];
  if (isPhaseFinal(status) && (logStored || report?.artifacts?.log)) {
    const key = objects.artifact(run.id, phase, 'log');
    return (await getPart(key, { from: offset, length: limit })) ?? instead('This log has expired.', offset, limit);
  }
  const bytes = await readPieces(run.id, phase, offset, limit, consistent);
  // Terraform's shorter requests need no size.
  const isInside = limit > maxPieceBytes && bytes.length === limit;
  return { bytes, size: isInside ? (await logEnd(run.id, phase)).length : undefined };
};

/** {@link readLogPart} without the size. */
export const readLog = async (...read: Parameters<typeof readLogPart>): Promise<Buffer> =>
  (await readLogPart(...read)).bytes;

/** Framed like a log, so that readers detect its end. */
const instead = (text: string, offset: number, limit: number): LogPart => {
  const whole = Buffer.from(`${String.fromCharCode(STX)}${text}\n${String.fromCharCode(ETX)}`);
  return { bytes: whole.subarray(offset, offset + limit), size: whole.length };
};

/** Eventually consistent reads cost half; a missing piece is read by the next request. */
const readPieces = async (
  runId: string,
  phase: PhaseName,
  offset: number,
  limit: number,
  consistent: boolean,
): Promise<Buffer> => {
  const { pk, sk } = keys.log(runId, phase, offset);
  // Readers continue after the last piece they received, so the offset is nearly always the start of a piece.
  const inside =
    offset > 0
      ? await query<Piece>({
          pk,
          from: padded(Math.max(0, offset - maxPieceBytes)),
          to: sk,
          reverse: true,
          limit: 1,
          consistent,
        })
      : [];
  const starts = Number(inside[0]?.sk ?? Number.NaN) === offset;
  const next = await query<Piece>({
    pk,
    from: starts || inside.length === 0 ? sk : padded(offset + 1),
    to: padded(offset + limit - 1),
    consistent,
  });
  const parts: Buffer[] = [];
  let at = offset;
  for (const piece of [...(starts ? [] : inside), ...next]) {
    const begin = Number(piece.sk);
    if (begin > at) break;
    const bytes = Buffer.from(piece.bytes).subarray(at - begin);
    parts.push(bytes);
    at += bytes.length;
  }
  return Buffer.concat(parts).subarray(0, limit);
};

/** End of the log in the table: the offset of the next byte, and whether the log was closed. */
export const logEnd = async (runId: string, phase: PhaseName): Promise<{ length: number; closed: boolean }> => {
  const [last] = await query<Piece>({ pk: keys.log(runId, phase, 0).pk, reverse: true, limit: 1 });
  if (!last) return { length: 0, closed: false };
  return { length: Number(last.sk) + last.bytes.length, closed: last.bytes.at(-1) === ETX };
};

/** A runner's log has at most 50 MiB, but code with its upload URL can store more. */
const maxStoredBytes = 64 * 1024 * 1024;

/**
 * Ends a log that its runner left unfinished, and stores it as a single object; the pieces expire. A runner stores the
 * whole log before it reports, so an existing object takes precedence. Can be repeated.
 */
export const storeLog = async (runId: string, phase: PhaseName, message: string): Promise<void> => {
  const key = objects.artifact(runId, phase, 'log');
  const stored = await getObjectUpTo(key, maxStoredBytes);
  const { length } = await logEnd(runId, phase);
  const ending = Buffer.from([...closing(message), ETX]);
  if (stored instanceof Buffer && stored.length > length && stored.at(-1) === ETX) {
    const closed = stored.subarray(-ending.length).equals(ending);
    if (!closed) await putObject(key, new Uint8Array(Buffer.concat([stored.subarray(0, -1), ending])));
    return;
  }
  await closeLog(runId, phase, message);
  const pieces = await queryAll<Piece>({ pk: keys.log(runId, phase, 0).pk });
  await putObject(key, new Uint8Array(Buffer.concat(contiguous(pieces))));
};

const closing = (message: string): Buffer => Buffer.from(message ? `\n${message}\n` : '');

/** Pieces up to the first gap, as readers see them. */
const contiguous = (pieces: Piece[]): Uint8Array[] => {
  let at = 0;
  const parts: Uint8Array[] = [];
  for (const { sk, bytes } of pieces) {
    if (Number(sk) > at) break;
    parts.push(bytes.subarray(at - Number(sk)));
    at = Number(sk) + bytes.length;
  }
  return parts;
};

/** Without the closing byte, readers keep waiting. */
const closeLog = async (runId: string, phase: PhaseName, message: string): Promise<void> => {
  const { length, closed } = await logEnd(runId, phase);
  if (!closed) {
    await appendLog(runId, phase, length, Buffer.from([...(length === 0 ? [STX] : []), ...closing(message), ETX]));
  }
};
