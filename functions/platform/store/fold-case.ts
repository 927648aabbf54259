/**
 * Folds the case of case-insensitive names and addresses. Changes only ASCII letters: `toLowerCase` also turns other
 * characters into ASCII (the Kelvin sign U+212A into k), so that one address or domain could pass for another.
 */
export const foldCase = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
