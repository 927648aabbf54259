/** An id or secret that differs from this one in its last character, whatever that is. */
export const altered = (text: string): string => `${text.slice(0, -1)}${text.endsWith('1') ? '2' : '1'}`;
