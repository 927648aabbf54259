import type { VcsRepo } from '../workspaces/vcs-repo-record.ts';

/** What stands for all tags among branches; no branch can be called so. */
export const tagsBranch = 'refs/tags';

/** What a workspace follows: its runs are in the order of that one's moves. */
export const followsOf = ({ repository, branch, tagsRegex }: Pick<VcsRepo, 'repository' | 'branch' | 'tagsRegex'>) =>
  `${repository} ${tagsRegex ? tagsBranch : branch}`;

export const follows = ({ branch }: VcsRepo, pushed: string, defaultBranch: string): boolean =>
  (branch || defaultBranch) === pushed;
