/** Stored content does not match its record; the message is for users. */
export class DamagedContentError extends Error {
  override name = 'DamagedContentError';
}
