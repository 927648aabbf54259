export interface Sender {
  username: string;
  avatarUrl: string | null;
  htmlUrl: string | null;
}

/** What a webhook says, in the platform's words. */
export type ForgeEvent =
  | { kind: 'ignored'; why: string }
  | (Told & {
      kind: 'push';
      branch: string;
      before: string | null;
      after: string;
      forced: boolean;
      compareUrl: string | null;
    })
  | (Told & { kind: 'tag'; tag: string; sha: string })
  | (Told & { kind: 'gone'; branch: string })
  | (Told & { kind: 'pull'; number: number; over: boolean })
  /** What a merge queue is about to make of the branch. */
  | (Told & { kind: 'merge'; branch: string; before: string; sha: string })
  /** One on a pull request that asks for something (commands.ts). */
  | (Told & { kind: 'comment'; number: number; commentId: string });

interface Told {
  /** Of the repository at the forge. */
  repositoryId: string;
  defaultBranch: string | null;
  sender: Sender | null;
}

/** A commit id of SHA-1 or SHA-256. */
export const commitForm = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** What stands for no commit. */
export const isZeros = (sha: string): boolean => /^0+$/.test(sha);

export const ignored = (why: string): ForgeEvent => ({ kind: 'ignored', why });
