import type { Resource } from '../../client/client.ts';
import type { Journal } from './journal.ts';
import type { Secrets } from './secrets.ts';
import type { Source } from './source.ts';
import type { Target } from './target.ts';

/** What every part of an import works with. Ids of the source lead to what the target has for them. */
export interface Import {
  source: Source;
  target: Target;
  journal: Journal;
  secrets: Secrets;
  /** Names, as paths have them. */
  from: string;
  into: string;
  /** Names of workspaces to copy; empty: all. */
  only: string[];
  projects: Map<string, Resource>;
  pools: Map<string, Resource>;
  teams: Map<string, Resource>;
  tasks: Map<string, Resource>;
  policies: Map<string, Resource>;
  /** With the source's document of each. */
  workspaces: Map<string, { there: Resource; here: Resource }>;
}

export const nameOf = ({ attributes }: Resource): string => String(attributes.name ?? '');

/** Those of them that are named. */
export const pick = (attributes: Record<string, unknown>, names: string): Record<string, unknown> =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .filter((name) => attributes[name] !== undefined)
      .map((name) => [name, attributes[name]]),
  );

/** By name; of several, the first. */
export const named = (resources: Resource[], name: string): Resource | undefined =>
  resources.find((one) => nameOf(one) === name);

/** Ids of a relationship to many. */
export const idsIn = ({ relationships }: Resource, name: string): string[] => {
  const data = relationships?.[name]?.data;
  return Array.isArray(data) ? data.map(({ id }) => String(id)) : [];
};

/** Of the target, for ids of the source; those that were not copied are left out. */
export const mapped = (ids: string[], known: Map<string, Resource>): string[] =>
  ids.flatMap((id) => known.get(id)?.id ?? []);
