import type { Account } from '../connections.ts';
import type { ForgeEvent, Sender } from './events.ts';

export type { Sender };

/** The interface of a forge; one folder beside this file for each kind. */

export interface ForgeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `api-url`. */
  path: string;
  query?: Record<string, string | number>;
  body?: object;
  /** Accepted statuses besides 2xx. */
  accept?: readonly number[];
  maxBytes?: number;
}

export interface ForgeAnswer {
  status: number;
  /** Parsed; undefined when there is none. */
  body: unknown;
  headers: Record<string, string | string[] | undefined>;
}

/** One call, with the connection's token. @throws {ForgeError} */
export type Call = (request: ForgeRequest) => Promise<ForgeAnswer>;

export interface Repository {
  /** At the forge. */
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
   * Its commits are on no branch of the repository, so that anybody may have written them: of a fork, or pushed with no
   * branch at all.
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
  /** At the forge. */
  authorId: string;
}

/** One comment, as the forge has it now. */
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

export interface Forge {
  /** Where users authorize and codes are redeemed, below `http-url`. */
  oauth: { authorize: string; token: string; scope: string };
  whoAmI(call: Call): Promise<Account>;
  repositories(call: Call, page: number): Promise<Page<{ identifier: string; defaultBranch: string | null }>>;
  /** Undefined when the account cannot see such a repository. */
  repository(call: Call, identifier: string): Promise<Repository | undefined>;
  branches(call: Call, identifier: string): Promise<string[]>;
  /** The branch's commit. */
  branch(call: Call, identifier: string, branch: string): Promise<string | undefined>;
  /** With their commits; the first thousand. */
  tags(call: Call, identifier: string): Promise<{ name: string; sha: string }[]>;
  commit(call: Call, identifier: string, sha: string): Promise<Commit | undefined>;
  /** Paths of a commit's folders, as many as the forge lists at once. */
  folders(call: Call, identifier: string, sha: string): Promise<string[]>;
  /** The commit of the submodule at the path; undefined when there is none. */
  submodule(call: Call, identifier: string, sha: string, path: string): Promise<string | undefined>;
  /** Paths that differ; undefined when the forge cannot list all of them. */
  changedFiles(call: Call, identifier: string, from: string, to: string): Promise<string[] | undefined>;
  /** Below `api-url`: a gzip tar of the commit's files, in one folder. */
  archivePath(identifier: string, sha: string): string;
  /** Creates the webhook, or takes over one with the same address. Returns its id. */
  createHook(call: Call, identifier: string, hook: { url: string; secret: string }): Promise<string>;
  deleteHook(call: Call, identifier: string, id: string): Promise<void>;
  postStatus(call: Call, identifier: string, sha: string, status: CommitStatus): Promise<void>;
}

/** Pull requests at a forge; separate from the rest, because fewer functions need them. */
export interface PullForge {
  pull(call: Call, identifier: string, number: number): Promise<Pull | undefined>;
  /** Somebody else approved its newest commit, as far as the forge distinguishes commits, and nobody objects. */
  isApproved(call: Call, identifier: string, pull: Pull): Promise<boolean>;
  pullFiles(call: Call, identifier: string, number: number): Promise<string[] | undefined>;
  /** The first comments of a pull request, as many as are worth reading. */
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
  /** Whether the body was signed with the secret. Takes constant time. */
  isSigned(header: Header, body: string, secret: string): boolean;
  /** The delivery's id, if the forge gives it one. */
  deliveryId(header: Header): string | undefined;
  /** Content of a webhook. `payload` is any JSON. */
  eventOf(header: Header, payload: unknown): ForgeEvent;
}
