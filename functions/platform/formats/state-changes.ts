import { gunzipSync, gzipSync } from 'node:zlib';

/**
 * The difference between two states, so that a snapshot of a large state costs only its changes: runners create it, the
 * control plane applies it. Pure.
 *
 * Format: gzip of a JSON array with the pieces of the newer state: `[offset, length]` in the older one, or new bytes as
 * Latin-1 text.
 */

type Piece = [offset: number, length: number] | string;

/** A resource or one of its instances, by Terraform's indentation; a state in another form is one piece. */
const chunk = /[\s\S]*?\n {0,8}[}\]],?\n|[\s\S]+/g;

const chunksOf = (text: string): string[] => text.match(chunk) ?? [];

/** Offset of each piece of a text. */
const placesOf = (text: string): Map<string, number> => {
  const places = new Map<string, number>();
  let at = 0;
  for (const piece of chunksOf(text)) {
    places.set(piece, at);
    at += piece.length;
  }
  return places;
};

/** Linear in the size of both. */
export const changesBetween = (before: Buffer, after: Buffer): Buffer<ArrayBuffer> => {
  const old = before.toString('latin1');
  const places = placesOf(old);
  const pieces: Piece[] = [];
  for (const piece of chunksOf(after.toString('latin1'))) {
    const last = pieces.at(-1);
    const next = Array.isArray(last) ? last[0] + last[1] : undefined;
    if (next !== undefined && old.startsWith(piece, next)) (last as [number, number])[1] += piece.length;
    else {
      const place = places.get(piece);
      if (place !== undefined) pieces.push([place, piece.length]);
      else if (typeof last === 'string') pieces[pieces.length - 1] = last + piece;
      else pieces.push(piece);
    }
  }
  return gzipSync(JSON.stringify(pieces), { level: 6 });
};

/** The changes do not belong to that state. */
export class InvalidChangesError extends Error {
  override name = 'InvalidChangesError';
}

const isPiece = (piece: unknown): piece is Piece =>
  typeof piece === 'string' || (Array.isArray(piece) && piece.length === 2 && piece.every(Number.isSafeInteger));

const piecesOf = (changes: Uint8Array, maxBytes: number): Piece[] => {
  try {
    // A byte that JSON has to escape takes six characters.
    const pieces: unknown = JSON.parse(gunzipSync(changes, { maxOutputLength: maxBytes * 6 }).toString('utf8'));
    if (Array.isArray(pieces) && pieces.every(isPiece)) return pieces;
  } catch (error) {
    throw new InvalidChangesError('The changes of the state cannot be read.', { cause: error });
  }
  throw new InvalidChangesError('The changes of the state are not a list of pieces.');
};

/**
 * The newer state.
 * @throws {InvalidChangesError} also if it would exceed `maxBytes`
 */
export const applyChanges = (before: Buffer, changes: Uint8Array, maxBytes: number): Buffer<ArrayBuffer> => {
  const parts: Buffer[] = [];
  let size = 0;
  for (const piece of piecesOf(changes, maxBytes)) {
    const part = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : sliceOf(before, piece);
    size += part.length;
    if (size > maxBytes) throw new InvalidChangesError(`The changed state has more than ${maxBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
};

const sliceOf = (before: Buffer, [offset, length]: [number, number]): Buffer => {
  if (offset < 0 || length < 0 || offset + length > before.length) {
    throw new InvalidChangesError('The changes belong to another state.');
  }
  return before.subarray(offset, offset + length);
};
