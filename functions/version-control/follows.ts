import type { VcsRepo } from '#resources/workspaces/vcs-repo-record.ts';

/** Branch name that stands for all tags; no branch can have this name. */
export const tagsBranch = 'refs/tags';

/** The followed branch or tags of a workspace, whose moves order its runs. */
export const followsOf = ({ repository, branch, tagsRegex }: Pick<VcsRepo, 'repository' | 'branch' | 'tagsRegex'>) =>
  `${repository} ${tagsRegex ? tagsBranch : branch}`;

export const follows = ({ branch }: VcsRepo, pushed: string, defaultBranch: string): boolean =>
  (branch || defaultBranch) === pushed;
