import type { Account, OauthClient } from '../connections.ts';
import type { ForgeEvent, Sender } from './events.ts';

export type { Sender };

/** The interface to a forge; each kind has a folder beside this file. */

export interface ForgeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path below `api-url`. */
  path: string;
  query?: Record<string, string | number>;
  body?: object;
  /** Accepted statuses besides 2xx. */
  accept?: readonly number[];
  maxBytes?: number;
}

export interface ForgeAnswer {
  status: number;
  /** The parsed body; undefined when there is none. */
  body: unknown;
  headers: Record<string, string | string[] | undefined>;
}

/** One call, with the connection's token. @throws {ForgeError} */
export type Call = (request: ForgeRequest) => Promise<ForgeAnswer>;

export interface Repository {
  /** Id at the forge. */
  id: string;
  identifier: string;
  defaultBranch: string;
  /** The connection's account may create webhooks. */
  mayAdminister: boolean;
  httpUrl: string;
  cloneUrl: string;
}

export interface Commit {
  sha: string;
  message: string;
  url: string;
  author: string | null;
}

export interface Pull {
  number: number;
  open: boolean;
  headSha: string;
  headBranch: string;
  base: string;
  /**
   * Any account may have written its commits, because they are on no branch of the repository: the pull request comes
   * from a fork, or was pushed without a branch.
   */
  fromFork: boolean;
  title: string;
  body: string | null;
  url: string;
  sender: Sender | null;
  /** Null while the forge has not computed it. */
  mergeable: boolean | null;
}

export type StatusState = 'pending' | 'success' | 'failure' | 'error';

export interface CommitStatus {
  state: StatusState;
  context: string;
  description: string;
  targetUrl: string;
}

export interface Comment {
  id: string;
  body: string;
  /** Id of the author at the forge. */
  authorId: string;
}

/** A comment in its current state at the forge. */
export interface PullComment extends Comment {
  number: number;
  /** Name of the account. */
  author: string;
  edited: boolean;
  createdAt: string;
}

export interface Page<T> {
  items: T[];
  next: number | null;
}

/** Headers of a webhook, by lower-case name. */
export type Header = (name: string) => string | undefined;

/** Paths for authorization and for redeeming codes, below `http-url`. */
export interface OauthPaths {
  authorize: string;
  token: string;
  scope: string;
}

export interface Forge {
  /** Absent: only personal access tokens. */
  oauth?: OauthPaths;
  whoAmI(call: Call): Promise<Account>;
  repositories(call: Call, page: number): Promise<Page<{ identifier: string; defaultBranch: string | null }>>;
  /** Undefined when the account cannot see the repository. */
  repository(call: Call, identifier: string): Promise<Repository | undefined>;
  branches(call: Call, identifier: string): Promise<string[]>;
  /** Commit id of the branch. */
  branch(call: Call, identifier: string, branch: string): Promise<string | undefined>;
  /** Tags with their commits; the first thousand. */
  tags(call: Call, identifier: string): Promise<{ name: string; sha: string }[]>;
  commit(call: Call, identifier: string, sha: string): Promise<Commit | undefined>;
  /** Paths of a commit's folders, as many as the forge lists in one response. */
  folders(call: Call, identifier: string, sha: string): Promise<string[]>;
  /** Commit id of the submodule at the path; undefined when there is none. */
  submodule(call: Call, identifier: string, sha: string, path: string): Promise<string | undefined>;
  /** Changed paths; undefined when the forge cannot list all of them. */
  changedFiles(call: Call, identifier: string, from: string, to: string): Promise<string[] | undefined>;
  /** URL of an archive of the commit's files: a gzip tar with one folder, or a zip. */
  archiveUrl(at: Pick<OauthClient, 'apiUrl' | 'httpUrl'>, identifier: string, sha: string): string;
  /** Present if the archive is a zip: names in the commit's first folder, without submodules. */
  zippedRoot?(call: Call, identifier: string, sha: string): Promise<string[]>;
  /** Creates the webhook, or takes over one with the same address. Returns its id. */
  createHook(call: Call, identifier: string, hook: { url: string; secret: string }): Promise<string>;
  deleteHook(call: Call, identifier: string, id: string): Promise<void>;
  postStatus(call: Call, identifier: string, sha: string, status: CommitStatus): Promise<void>;
}

/** Pull requests at a forge; separate from the rest, because fewer functions need them. */
export interface PullForge {
  pull(call: Call, identifier: string, number: number): Promise<Pull | undefined>;
  /**
   * Whether another user approved its newest commit (if the forge distinguishes commits), and no reviewer requests
   * changes.
   */
  isApproved(call: Call, identifier: string, pull: Pull): Promise<boolean>;
  pullFiles(call: Call, identifier: string, number: number): Promise<string[] | undefined>;
  /** The first comments of a pull request, up to a limit. */
  comments(call: Call, identifier: string, number: number): Promise<Comment[]>;
  /** Undefined when it was deleted. */
  comment(call: Call, identifier: string, at: { number: number; id: string }): Promise<PullComment | undefined>;
  /** Returns its id. */
  postComment(call: Call, identifier: string, number: number, body: string): Promise<string>;
  /** False when it was deleted. */
  editComment(call: Call, identifier: string, at: { number: number; id: string }, body: string): Promise<boolean>;
}

/** Webhooks of a forge; separate from its API, because fewer functions need them. */
export interface WebhookReader {
  /** Whether the body was signed with the secret. Compares in constant time. */
  isSigned(header: Header, body: string, secret: string): boolean;
  /** The delivery's id, if the forge gives it one. */
  deliveryId(header: Header): string | undefined;
  /** Parses a webhook. `payload` is any JSON. Some forges report all branches and tags of a push in one delivery. */
  eventsOf(header: Header, payload: unknown): ForgeEvent[];
}
