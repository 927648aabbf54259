import type { VcsRepo } from '#resources/workspaces/vcs-repo-record.ts';

/** Stands for all tags in place of a branch; no branch can have this name. */
export const tagsBranch = 'refs/tags';

/** What a workspace follows: its runs are ordered by that branch's moves. */
export const followsOf = ({ repository, branch, tagsRegex }: Pick<VcsRepo, 'repository' | 'branch' | 'tagsRegex'>) =>
  `${repository} ${tagsRegex ? tagsBranch : branch}`;

export const follows = ({ branch }: VcsRepo, pushed: string, defaultBranch: string): boolean =>
  (branch || defaultBranch) === pushed;
