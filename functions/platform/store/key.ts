import { foldCase } from './fold-case.ts';

/** Key of an item in the table (keys.ts). */
export interface Key {
  pk: string;
  sk: string;
}

/** Keys in a partition such as `WS#<id>`. */
const partition =
  (kind: string) =>
  (id: string, sk: string): Key => ({ pk: `${kind}#${id}`, sk });

export const ofOrganization = partition('ORG');
export const ofWorkspace = partition('WS');
export const ofProject = partition('PROJECT');
export const ofUser = partition('USER');
export const ofTeam = partition('TEAM');
export const ofRun = partition('RUN');
export const ofAgentPool = partition('APOOL');
export const ofOauthClient = partition('OC');
export const ofRepository = partition('REPO');
export const ofModule = partition('MOD');

/** Key of the item that its partition is named after: `PROJECT#<id>`, `PROJECT`. */
export const record =
  (kind: string) =>
  (id: string): Key => ({ pk: `${kind}#${id}`, sk: kind });

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
