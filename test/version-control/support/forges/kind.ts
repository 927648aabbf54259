import { uniqueName } from '#test/support/api.ts';
import type { Dialect } from '#version-control/service-providers.ts';
import type { Json } from '../followed.ts';
import type { ForgeCall, ForgeServer } from '../forge-server.ts';

/** What a forge's server answers about one repository, and how it reports changes: forms of its documentation. */

export const me = { uuid: '{me}', nickname: 'bot', id: 1, name: 'bot', displayName: 'bot' };
export const jane = { uuid: '{jane}', nickname: 'jane', id: 2, name: 'jane', displayName: 'jane' };

/** The repository at the forge. */
export class Scene {
  readonly identifier: string;
  /** Commit of the branch main. */
  head: string;
  pull: Json;
  comments: Json[] = [];
  hooks: Json[] = [];
  readonly forge: ForgeServer;

  constructor(forge: ForgeServer, head: string, between = '/') {
    this.forge = forge;
    this.head = head;
    this.identifier = `acme${between}${uniqueName('infra')}`;
  }

  /** Stores a webhook with its id, its URL and its secret. */
  addHook(body: Json, id: string | number, { url, secret }: { url: string; secret: string }) {
    const made = { ...body, uuid: id, id, url, secret };
    this.hooks.push(made);
    return { status: 201, body: made };
  }

  addComment(one: Json) {
    this.comments.push(one);
    return { status: 201, body: one };
  }

  /** The comment in the path. */
  commentAt({ path }: ForgeCall): Json {
    return this.comments.find(({ id }) => path.endsWith(`/${id}`));
  }
}

/** A branch or a tag: its name, and its commits before and after. */
export type Change = ['branch' | 'tag', string, string | null, string | null];
export type Vote = [Json, 'approved' | 'changes'];

export interface Kind {
  dialect: Dialect;
  provider: string;
  /** `api-url` below the server's URL. */
  apiPath: string;
  /** Between `acme` and the name of a repository. */
  between?: string;
  source: string;
  answer(scene: Scene): void;
  /** Takes the account's right to create webhooks. */
  forbid(scene: Scene): void;
  statusPath(scene: Scene, commit: string): string;
  /** The body of a status that is pending. */
  pending: object;
  /** Makes the commit's archive available. */
  archive(scene: Scene, commit: string): Promise<void>;
  /** Deliveries of one push: some forges send one for each branch and tag. */
  push(...changes: Change[]): [string, object][];
  pullEvent(name: 'opened' | 'pushed' | 'merged'): [string, object];
  commentEvent(id: number, text: string): [string, object];
  /** A delivery of another repository. */
  elsewhere: object;
  /** Headers of a delivery that the forge sends. */
  signed(scene: Scene, event: string, id: string, body: string): Record<string, string>;
  /** Values of the header that proves the sender, which must be refused. */
  unsigned(scene: Scene): Record<string, string>[];
  pull(commit: string, change?: { fork?: boolean; over?: boolean; votes?: Vote[] }): Json;
  /** Takes the reviewers' write access; absent if the forge does not report it. */
  open?(scene: Scene): void;
  /** Comment 1, by jane. */
  edited(text: string): Json;
}
