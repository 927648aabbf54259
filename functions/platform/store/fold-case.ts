/**
 * For names and addresses that are the same in any case. Only ASCII letters are folded: `toLowerCase` turns other characters
 * into ASCII (the Kelvin sign U+212A into k), so that one address or domain would pass for another.
 */
export const foldCase = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
