import { foldCase } from './fold-case.ts';

/** Of an item of the table (keys.ts). */
export interface Key {
  pk: string;
  sk: string;
}

/** Numbers in sort keys, so that text order is number order. */
export const padded = (n: number): string => String(n).padStart(12, '0');

/** Sorts behind everything that keys consist of. */
export const last = '\uffff';

/** A name so that lists are in the order people expect: `a`, `B`, `c`. Names that differ in case only stay apart. */
export const sortable = (name: string, owner?: string): string =>
  [foldCase(name), ...(owner === undefined ? [] : [owner]), name].join('#');
