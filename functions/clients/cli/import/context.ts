import { type MovingTable, namesFor } from '#api/moving.ts';
import type { Resource } from '#clients/client/client.ts';
import type { Journal } from './journal.ts';
import type { Secrets } from './secrets.ts';
import type { Source } from './source.ts';
import type { Target } from './target.ts';

/** What selected workspaces use, as ids at the source. Undefined: everything is copied. */
export type Needs =
  | { workspaces: Set<string>; projects: Set<string>; pools: Set<string>; teams: Set<string>; tasks: Set<string> }
  | undefined;

/** Context shared by all parts of an import. The maps lead from ids at the source to copies at the target. */
export interface Import {
  source: Source;
  target: Target;
  journal: Journal;
  secrets: Secrets;
  /** Organization names, encoded for paths. */
  from: string;
  into: string;
  /** Names of the workspaces to copy; empty: all. */
  only: string[];
  needs: Needs;
  projects: Map<string, Resource>;
  pools: Map<string, Resource>;
  teams: Map<string, Resource>;
  tasks: Map<string, Resource>;
  policies: Map<string, Resource>;
  workspaces: Map<string, { original: Resource; copy: Resource }>;
}

export const nameOf = ({ attributes }: Resource): string => String(attributes.name ?? '');

/** The named attributes that have a value. */
export const pick = (attributes: Record<string, unknown>, names: string | string[]): Record<string, unknown> =>
  Object.fromEntries(
    (typeof names === 'string' ? names.split(' ') : names)
      .filter((name) => attributes[name] !== undefined)
      .map((name) => [name, attributes[name]]),
  );

/** The attributes that are copied as they are. */
export const copiedFrom = (attributes: Record<string, unknown>, table: MovingTable): Record<string, unknown> =>
  pick(attributes, namesFor(table, 'import', 'copied'));

/** The first resource with this name. */
export const named = (resources: Resource[], name: string): Resource | undefined =>
  resources.find((resource) => nameOf(resource) === name);

/** Ids at the target for ids at the source, without those that were not copied. */
export const mapped = (ids: string[], copies: Map<string, Resource>): string[] =>
  ids.flatMap((id) => copies.get(id)?.id ?? []);
