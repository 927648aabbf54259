/** What a workspace may ask of a pull request before it is applied. */
export const mergeRequirements = ['approved', 'mergeable'] as const;
export type MergeRequirement = (typeof mergeRequirements)[number];
