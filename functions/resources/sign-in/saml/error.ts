/** A message of the identity provider is not acceptable. The message completes "was rejected: …". */
export class SamlError extends Error {
  override name = 'SamlError';
}
