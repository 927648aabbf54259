/** An id or secret that differs from this one only in its last character. */
export const altered = (text: string): string => `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}`;
