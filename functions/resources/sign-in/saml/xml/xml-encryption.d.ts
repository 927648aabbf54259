/** The part of xml-encryption that is used here; it has no declarations. */

export interface DecryptOptions {
  /** Private RSA key (PEM). */
  key: string;
  disallowDecryptionWithInsecureAlgorithm: boolean;
  warnInsecureAlgorithm: boolean;
}

export function decrypt(
  xml: string,
  options: DecryptOptions,
  done: (error: Error | null, content?: string) => void,
): void;
