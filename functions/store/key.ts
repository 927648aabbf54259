/** Of an item of the table (keys.ts). */
export interface Key {
  pk: string;
  sk: string;
}

/** Numbers in sort keys, so that text order is number order. */
export const padded = (n: number): string => String(n).padStart(12, '0');
