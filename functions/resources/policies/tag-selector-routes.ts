import * as v from 'valibot';
import { type Answer, noContent } from '#api/answer.ts';
import { conflict, deletedMeanwhile, unprocessable } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readWhole } from '#api/validation.ts';
import { policySet } from './finder.ts';
import type { TagSelector } from './select-by-tags.ts';
import { changeTagSelectors, getPolicySet, type PolicySet } from './set-records.ts';
import {
  checkScoping,
  distinctSelectors,
  isSameSelector,
  maxTagSelectors,
  tagSelectorList,
} from './tag-selector-input.ts';

/** Selection of a policy set's workspaces by tags (HCP API: policy sets, tag selectors). */

const read = (request: ApiRequest): TagSelector[] =>
  readWhole(request, v.object({ data: v.optional(tagSelectorList, []) })).data;

const tries = 5;

/** Idempotent. */
const change =
  (merge: (current: TagSelector[], given: TagSelector[]) => TagSelector[]) =>
  async ({ request, subject }: Context<PolicySet>): Promise<Answer> => {
    const requested = read(request);
    let set: PolicySet | undefined = subject;
    for (let i = 0; i < tries && set; i++) {
      const selectors = merge(set.tagSelectors ?? [], requested);
      if (selectors.length > maxTagSelectors) {
        throw unprocessable('/data', `tag-selectors: a policy set has at most ${maxTagSelectors}`);
      }
      if (selectors.length > 0) checkScoping(set, selectors, '/data');
      if (await changeTagSelectors(set, selectors)) return noContent();
      set = await getPolicySet(set.id);
    }
    if (!set) throw deletedMeanwhile('policy set');
    throw conflict('The policy set was changed by other requests at the same time. Try again.');
  };

const path = '/policy-sets/{policySet}/tag-selectors';

export const tagSelectorRoutes: Route[] = [
  route(
    'POST',
    path,
    'policy:write',
    policySet,
    change((current, added) => distinctSelectors([...current, ...added])),
  ),
  route(
    'DELETE',
    path,
    'policy:write',
    policySet,
    change((current, removed) =>
      current.filter((selector) => !removed.some((other) => isSameSelector(selector, other))),
    ),
  ),
];
