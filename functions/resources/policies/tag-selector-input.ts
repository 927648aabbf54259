import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import { tagKey, tagValue } from '#api/names.ts';
import type { TagSelector } from './select-by-tags.ts';
import type { PolicySet } from './set-records.ts';

/** Input of the tags that select a policy set's workspaces. */

export const maxTagSelectors = 50;

const selector = v.pipe(
  v.strictObject({
    'tag-key': tagKey,
    'tag-value': v.nullish(tagValue, null),
    'is-exclude': v.nullish(v.boolean(), false),
  }),
  v.transform(
    (data): TagSelector => ({
      key: data['tag-key'],
      value: data['tag-value'],
      ...(data['is-exclude'] ? { excludes: true as const } : {}),
    }),
  ),
);

export const isSameSelector = (a: TagSelector, b: TagSelector): boolean => a.key === b.key && a.value === b.value;

/** Without duplicates by key and value; the last one wins. */
export const distinctSelectors = (all: TagSelector[]): TagSelector[] =>
  all.filter((selector, i) => !all.slice(i + 1).some((later) => isSameSelector(selector, later)));

export const tagSelectorList = v.pipe(
  v.array(selector),
  v.maxLength(maxTagSelectors, `may have at most ${maxTagSelectors}`),
  v.transform(distinctSelectors),
);

export const tagSelectorDocument = ({ key, value, excludes }: TagSelector) => ({
  'tag-key': key,
  'tag-value': value,
  'is-exclude': excludes === true,
});

type Explicit = Pick<
  PolicySet,
  'global' | 'workspaceIds' | 'projectIds' | 'workspaceExclusionIds' | 'projectExclusionIds'
>;

/**
 * A set applies by tags or by name, never both; tags may except workspaces from a global set.
 * @throws {ApiError} 422
 */
export const checkScoping = (set: Explicit, selectors: readonly TagSelector[], pointer: string): void => {
  const named = [set.workspaceIds, set.projectIds, set.workspaceExclusionIds, set.projectExclusionIds];
  if (named.some((ids) => ids?.size)) {
    throw unprocessable(
      pointer,
      'tag-selectors: a policy set with tag selectors has no workspaces, projects or exclusions. Remove one or the other',
    );
  }
  if (!set.global || selectors.every(({ excludes }) => excludes)) return;
  throw unprocessable(
    pointer,
    'tag-selectors: the selectors of a global policy set can only exclude. Set is-exclude, or global to false',
  );
};
