/**
 * Which value a variable has when several are set (HCP Terraform: variable precedence). Values from files and from
 * the command line's own environment are up to Terraform and not ranked here.
 */

export type VariableScope = 'workspace' | 'project' | 'global';

export interface SetFacts {
  /** Overrides everything that is more specific. */
  priority: boolean;
  /** Owned by a project; else by the organization. */
  projectOwned: boolean;
  /** How it applies to the workspace. */
  scopes: readonly VariableScope[];
}

/** Lowest first; `priority` before, `project:` and `organization:` name the set's owner. */
const ranks = [
  'organization:global',
  'organization:project',
  'organization:workspace',
  'project:project',
  'project:workspace',
  'own',
  'run',
  'priority project:workspace',
  'priority project:project',
  'priority organization:workspace',
  'priority organization:project',
  'priority organization:global',
] as const;

const rank = (name: string): number => (ranks as readonly string[]).indexOf(name);

/** Of the workspace's own variables, and of those of the run itself. */
export const ownRank = rank('own');
export const runRank = rank('run');

/** A set that applies to a workspace in several ways counts by the strongest. */
export const rankOf = ({ priority, projectOwned, scopes }: SetFacts): number =>
  Math.max(
    ...scopes.map((scope) =>
      rank(`${priority ? 'priority ' : ''}${projectOwned ? 'project' : 'organization'}:${scope}`),
    ),
  );

export interface Ranked {
  rank: number;
  /** Of the set; sets of the same rank are in the order of their names. */
  name: string;
}

/** Rising precedence: a later one wins. Among sets of the same rank the first by name does. */
export const byPrecedence = (a: Ranked, b: Ranked): number =>
  a.rank - b.rank || (a.name < b.name ? 1 : a.name > b.name ? -1 : 0);
