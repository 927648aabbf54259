/** What lies in storage is not what was recorded; the message is for people. */
export class DamagedContentError extends Error {
  override name = 'DamagedContentError';
}
