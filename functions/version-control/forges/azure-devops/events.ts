import * as v from 'valibot';
import { commandOf } from '#version-control/commands.ts';
import { commitForm, type ForgeEvent, ignored, isZeros } from '../events.ts';
import { branchOf, partsOf, person, senderOf } from './schemas.ts';

/** Service hooks of Azure DevOps. One push has an update for each of its branches and tags. */

const repository = v.object({ id: v.string(), defaultBranch: v.nullish(v.string()) });

const by = v.fallback(v.nullish(person), null);
const update = v.object({ name: v.string(), oldObjectId: v.string(), newObjectId: v.string() });
const push = v.object({ repository, pushedBy: by, refUpdates: v.array(update) });
const pull = v.object({ repository, pullRequestId: v.number(), status: v.string(), createdBy: by });
const comment = v.object({
  comment: v.object({
    id: v.number(),
    content: v.fallback(v.string(), ''),
    author: by,
    _links: v.object({ threads: v.object({ href: v.string() }) }),
  }),
  pullRequest: v.object({ pullRequestId: v.number(), repository }),
});

const aboutOf = (one: v.InferOutput<typeof repository>, sender: v.InferOutput<typeof by>) => ({
  repositoryId: one.id,
  defaultBranch: one.defaultBranch ? branchOf(one.defaultBranch) : null,
  sender: senderOf(sender),
});

const updateOf = (
  { name, oldObjectId: from, newObjectId: to }: v.InferOutput<typeof update>,
  about: ReturnType<typeof aboutOf>,
): ForgeEvent => {
  const [kind, short = ''] = partsOf(name);
  const gone = isZeros(to);
  if (kind === 'heads' && gone) return { kind: 'gone', branch: short, ...about };
  if (kind === 'tags' && gone) return ignored(`tag ${short} was deleted`);
  // Of an annotated tag, the id is the tag's.
  if (kind === 'tags') return { kind: 'tag', tag: short, sha: null, ...about };
  if (kind !== 'heads' || !commitForm.test(to)) return ignored('neither a branch nor a tag was pushed');
  const before = commitForm.test(from) && !isZeros(from) ? from : null;
  return { kind: 'push', branch: short, before, after: to, forced: false, compareUrl: null, ...about };
};

const pullEvents = ['git.pullrequest.created', 'git.pullrequest.updated', 'git.pullrequest.merged'];
const commentEvent = 'ms.vss-code.git-pullrequest-comment-event';

export const eventsOf = (payload: unknown): ForgeEvent[] => {
  const { eventType, resource } = v.parse(
    v.object({ eventType: v.string(), resource: v.optional(v.unknown()) }),
    payload,
  );
  if (eventType === 'git.push') {
    const { repository: from, pushedBy, refUpdates } = v.parse(push, resource);
    return refUpdates.map((one) => updateOf(one, aboutOf(from, pushedBy)));
  }
  if (pullEvents.includes(eventType)) {
    const one = v.parse(pull, resource);
    const over = one.status !== 'active';
    return [{ kind: 'pull', number: one.pullRequestId, over, ...aboutOf(one.repository, one.createdBy) }];
  }
  if (eventType !== commentEvent) return [ignored(`events of kind ${eventType.slice(0, 50)}`)];
  const { comment: said, pullRequest } = v.parse(comment, resource);
  if (!commandOf(said.content)) return [ignored('comments without a command')];
  const threadId = /\/threads\/(\d+)$/.exec(said._links.threads.href)?.[1] ?? '';
  const about = aboutOf(pullRequest.repository, said.author);
  return [{ kind: 'comment', number: pullRequest.pullRequestId, commentId: `${threadId}/${said.id}`, ...about }];
};
