import * as v from 'valibot';
import type { Call, Pull } from './forge.ts';
import { firstOf, repo } from './github/forge.ts';

/** Reviews of pull requests at GitHub and Gitea, whose documents have the same form. */

const review = v.object({
  state: v.string(),
  user: v.nullish(v.object({ login: v.string() })),
  commit_id: v.nullish(v.string(), null),
  /** GitHub: the reviewer's relation to the repository. */
  author_association: v.nullish(v.string()),
  /** Gitea: the reviewer may write to the repository, or is named in the branch's protection. */
  official: v.nullish(v.boolean()),
  dismissed: v.nullish(v.boolean(), false),
});
type Review = v.InferOutput<typeof review>;

/** Every account can approve in a public repository, so only reviewers with write access count. */
const counts = ({ author_association: association, official }: Review): boolean =>
  official ?? ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(association ?? '');

const decides = ['APPROVED', 'CHANGES_REQUESTED', 'REQUEST_CHANGES', 'DISMISSED'];
const maxReviews = 1000;

/** Whether another user with write access approved the newest commit, and none requests changes. */
export const isApproved = async (call: Call, identifier: string, pull: Pull, size: number): Promise<boolean> => {
  const path = `${repo(identifier)}/pulls/${pull.number}/reviews`;
  const all = await firstOf(maxReviews, size, async (page) => {
    const query = { per_page: size, limit: size, page };
    return v.parse(v.array(review), (await call({ method: 'GET', path, query })).body);
  });
  const latest = new Map<string, Review>();
  for (const one of all) {
    const name = one.user?.login;
    if (name && name !== pull.sender?.username && counts(one) && decides.includes(one.state)) latest.set(name, one);
  }
  const standing = [...latest.values()].filter(({ dismissed, state }) => !dismissed && state !== 'DISMISSED');
  return (
    standing.some(({ state, commit_id: commit }) => state === 'APPROVED' && commit === pull.headSha) &&
    standing.every(({ state }) => state === 'APPROVED')
  );
};
