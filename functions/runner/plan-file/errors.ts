/** The plan file is not as this platform knows plan files: encrypted, damaged, or of a newer format. */
export class UnknownPlanFileError extends Error {
  override name = 'UnknownPlanFileError';
}
