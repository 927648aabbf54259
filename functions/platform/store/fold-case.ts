/**
 * Folds the case of case-insensitive names and addresses. Only of ASCII letters: `toLowerCase` turns other characters
 * into ASCII (the Kelvin sign U+212A into k), so that one address or domain would pass for another.
 */
export const foldCase = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
