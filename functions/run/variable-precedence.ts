/**
 * Whose value a variable has when several give it one (HCP Terraform: variable precedence). What is from files and from
 * the command line's own environment is Terraform's business and not ranked here.
 */

export type VariableScope = 'workspace' | 'project' | 'global';

export interface SetFacts {
  /** Overrides everything that is more specific. */
  priority: boolean;
  /** Owned by a project; else by the organization. */
  projectOwned: boolean;
  /** By which ways it reaches the workspace. */
  scopes: readonly VariableScope[];
}

/** Lowest first; `priority` before, `project:` and `organization:` say whose set it is. */
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

/** A set that reaches a workspace in several ways counts by the strongest. */
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
