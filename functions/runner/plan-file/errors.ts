/** The platform cannot read the plan file: it is encrypted, damaged, or has a newer format. */
export class UnknownPlanFileError extends Error {
  override name = 'UnknownPlanFileError';
}
