import * as v from 'valibot';
import { commandOf } from '#version-control/commands.ts';
import { type ForgeEvent, ignored } from '../events.ts';
import type { Header } from '../forge.ts';
import { id, optionalWebUrl, sha } from '../github/schemas.ts';
import { senderOf, user } from './schemas.ts';

/** Webhooks of Bitbucket Cloud. One push has a change for each of its branches and tags. */

const told = v.object({ repository: v.object({ uuid: v.string() }), actor: v.fallback(v.nullish(user), null) });
type Told = v.InferOutput<typeof told>;

const aboutOf = ({ repository, actor }: Told) => ({
  repositoryId: repository.uuid,
  defaultBranch: null,
  sender: senderOf(actor),
});

const ref = v.object({ type: v.string(), name: v.string(), target: v.nullish(v.object({ hash: v.string() })) });
const change = v.object({
  new: v.nullish(ref, null),
  old: v.nullish(ref, null),
  forced: v.nullish(v.boolean(), false),
  links: v.fallback(v.nullish(v.object({ html: v.object({ href: optionalWebUrl }) })), null),
});
const push = v.object({ push: v.object({ changes: v.array(change) }) });

const changeOf = (given: v.InferOutput<typeof change>, about: ReturnType<typeof aboutOf>): ForgeEvent => {
  const { new: now, old, links } = given;
  const one = now ?? old;
  if (one?.type === 'tag' && !now) return ignored(`tag ${one.name} was deleted`);
  if (one?.type === 'branch' && !now) return { kind: 'gone', branch: one.name, ...about };
  const after = v.safeParse(sha, now?.target?.hash);
  if (!one || !after.success) return ignored('neither a branch nor a tag was pushed');
  if (one.type === 'tag') return { kind: 'tag', tag: one.name, sha: after.output, ...about };
  if (one.type !== 'branch') return ignored(`changes of kind ${one.type.slice(0, 50)}`);
  const before = v.safeParse(sha, old?.target?.hash);
  return {
    kind: 'push',
    branch: one.name,
    before: before.success ? before.output : null,
    after: after.output,
    forced: given.forced ?? false,
    compareUrl: links?.html.href ?? null,
    ...about,
  };
};

const pull = v.object({ pullrequest: v.object({ id: v.number() }) });
const comment = v.object({
  comment: v.object({ id, content: v.object({ raw: v.fallback(v.string(), '') }) }),
});

/** Events of pull requests, and whether it is over. An update may be one of the title only. */
const pullEvents: Record<string, boolean> = {
  'pullrequest:created': false,
  'pullrequest:updated': false,
  'pullrequest:fulfilled': true,
  'pullrequest:rejected': true,
};

export const eventsOf = (header: Header, payload: unknown): ForgeEvent[] => {
  const name = header('x-event-key') ?? 'unknown';
  const over = pullEvents[name];
  if (name !== 'repo:push' && name !== 'pullrequest:comment_created' && over === undefined)
    return [ignored(`events of kind ${name.slice(0, 50)}`)];
  const about = aboutOf(v.parse(told, payload));
  if (name === 'repo:push') return v.parse(push, payload).push.changes.map((one) => changeOf(one, about));
  const { id: number } = v.parse(pull, payload).pullrequest;
  if (over !== undefined) return [{ kind: 'pull', number, over, ...about }];
  const { id: commentId, content } = v.parse(comment, payload).comment;
  return commandOf(content.raw)
    ? [{ kind: 'comment', number, commentId, ...about }]
    : [ignored('comments without a command')];
};
