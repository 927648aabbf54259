/** Requirements that a workspace can set for pull requests before they are applied. */
export const mergeRequirements = ['approved', 'mergeable'] as const;
export type MergeRequirement = (typeof mergeRequirements)[number];
