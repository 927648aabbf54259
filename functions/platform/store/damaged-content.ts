/** Stored content does not match its record; the message is for people. */
export class DamagedContentError extends Error {
  override name = 'DamagedContentError';
}
