import type { Tag } from '#resources/projects/tags.ts';

/** Selects workspaces of a policy set by their tags. Pure. */

export interface TagSelector {
  key: string;
  /** Null matches a tag without a value, as in HCP Terraform (tfe provider: tfe_tag_policy_set). */
  value: string | null;
  excludes?: true;
}

const fits = ({ key, value }: TagSelector, tags: readonly Tag[]): boolean =>
  tags.some((tag) => tag.key === key && tag.value === (value ?? ''));

/**
 * Whether the selectors match these tags. An excluding selector wins. Without an including selector everything matches,
 * because a run that skips a policy is worse than one that is checked needlessly.
 */
export const selects = (selectors: readonly TagSelector[], tags: readonly Tag[]): boolean => {
  if (selectors.some((selector) => selector.excludes && fits(selector, tags))) return false;
  const including = selectors.filter(({ excludes }) => !excludes);
  return including.length === 0 || including.some((selector) => fits(selector, tags));
};
