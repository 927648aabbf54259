/** The program that plans and applies: Terraform, or OpenTofu. Each has its own versions. */
export const engines = ['terraform', 'tofu'] as const;
export type Engine = (typeof engines)[number];

/** OpenTofu's first release, forked from Terraform 1.5 (https://opentofu.org/docs/intro/whats-new/, version 1.6). */
const firstTofu = [1, 6] as const;

/**
 * Message for users if the engine has no such version. Checks exact versions only; undefined for all others, and for
 * constraints.
 */
export const versionProblem = (engine: Engine | undefined, version: string): string | undefined => {
  const [, major, minor] = /^\s*=?\s*v?(\d+)\.(\d+)(?:\.\d+)?(?:-[\w.-]+)?\s*$/.exec(version) ?? [];
  if (engine !== 'tofu' || major === undefined) return undefined;
  const isBefore = Number(major) < firstTofu[0] || (Number(major) === firstTofu[0] && Number(minor) < firstTofu[1]);
  return isBefore ? `OpenTofu has no version ${version.trim()}; its first is 1.6.0` : undefined;
};

/**
 * Whether Terraform of this version has neither queries nor actions, which came with 1.14. Checks exact versions such as
 * `1.13.3`; runners resolve constraints.
 */
export const isBefore114 = (version: string): boolean => {
  const [, major, minor] = /^(\d+)\.(\d+)\.\d+(-[\w.]+)?$/.exec(version.trim()) ?? [];
  return major !== undefined && (Number(major) < 1 || (Number(major) === 1 && Number(minor) < 14));
};
