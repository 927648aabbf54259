import { foldCase } from './fold-case.ts';

/** Key of an item in the table (keys.ts). */
export interface Key {
  pk: string;
  sk: string;
}

/** Pads numbers in sort keys, so that text order is number order. */
export const padded = (n: number): string => String(n).padStart(12, '0');

/** Sorts after every character in keys. */
export const last = '\uffff';

/**
 * Sort key of a name, for lists in the order that people expect: `a`, `B`, `c`. Names that differ only in case stay
 * distinct.
 */
export const sortable = (name: string, owner?: string): string =>
  [foldCase(name), ...(owner === undefined ? [] : [owner]), name].join('#');
