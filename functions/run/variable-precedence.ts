/**
 * Precedence of a variable with several values (HCP Terraform: variable precedence). Terraform itself ranks values from
 * files and from the command line's own environment, which are not ranked here.
 */

export type VariableScope = 'workspace' | 'project' | 'global';

export interface SetFacts {
  /** Overrides all more specific values. */
  priority: boolean;
  /** Owned by a project; otherwise by the organization. */
  projectOwned: boolean;
  /** The ways in which it applies to the workspace. */
  scopes: readonly VariableScope[];
}

/** Lowest first; `priority` is a prefix, `project:` and `organization:` name the set's owner. */
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

/** Ranks of the workspace's own variables, and of the run's variables. */
export const ownRank = rank('own');
export const runRank = rank('run');

/** A set that applies to a workspace in several ways counts by the highest rank. */
export const rankOf = ({ priority, projectOwned, scopes }: SetFacts): number =>
  Math.max(
    ...scopes.map((scope) =>
      rank(`${priority ? 'priority ' : ''}${projectOwned ? 'project' : 'organization'}:${scope}`),
    ),
  );

export interface Ranked {
  rank: number;
  /** Name of the set; sets of the same rank are ordered by name. */
  name: string;
}

/** Rising precedence: a later one wins. Among sets of the same rank, the first by name wins. */
export const byPrecedence = (a: Ranked, b: Ranked): number =>
  a.rank - b.rank || (a.name < b.name ? 1 : a.name > b.name ? -1 : 0);
