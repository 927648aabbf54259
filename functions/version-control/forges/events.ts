export interface Sender {
  username: string;
  avatarUrl: string | null;
  htmlUrl: string | null;
}

/** The content of a webhook, translated for the platform. */
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
  /** `sha`: null if the forge tells the id of an annotated tag in place of its commit's. */
  | (Told & { kind: 'tag'; tag: string; sha: string | null })
  | (Told & { kind: 'gone'; branch: string })
  | (Told & { kind: 'pull'; number: number; over: boolean })
  /** A commit of a merge queue, which will become the branch's head. */
  | (Told & { kind: 'merge'; branch: string; before: string; sha: string })
  /** A comment on a pull request with a command (commands.ts). */
  | (Told & { kind: 'comment'; number: number; commentId: string });

interface Told {
  /** Id of the repository at the forge. */
  repositoryId: string;
  defaultBranch: string | null;
  sender: Sender | null;
}

/** A commit id of SHA-1 or SHA-256. */
export const commitForm = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** Whether the id stands for "no commit". */
export const isZeros = (sha: string): boolean => /^0+$/.test(sha);

export const ignored = (why: string): ForgeEvent => ({ kind: 'ignored', why });
