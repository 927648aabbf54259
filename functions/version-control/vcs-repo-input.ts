import * as v from 'valibot';
import { text } from '../api/validation.ts';

/** What a workspace's `vcs-repo` may say (HCP API: workspaces). */

const segment = /^[A-Za-z0-9_.~-]+$/;

/** `owner/name`; with groups, `a/b/name`. */
export const isIdentifier = (given: string): boolean => {
  const parts = given.split('/');
  return (
    given.length <= 400 &&
    parts.length >= 2 &&
    parts.length <= 20 &&
    parts.every((part) => segment.test(part) && part !== '.' && part !== '..')
  );
};

/** git-check-ref-format(1), as far as it keeps a name a name. */
export const isBranch = (given: string): boolean =>
  given.length <= 250 &&
  !/[\0-\x20~^:?*[\\\x7f]|\.\.|@\{|\/\/|^[/-]|\/$|\.$/.test(given) &&
  given.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));

const optional = (most: number) => v.nullish(text(most));

export const vcsRepoInput = v.strictObject({
  identifier: v.optional(v.pipe(v.string(), v.check(isIdentifier, 'must be like owner/name'))),
  'oauth-token-id': optional(100),
  'github-app-installation-id': optional(100),
  branch: v.nullish(
    v.pipe(
      text(250),
      v.check((given) => given === '' || isBranch(given), 'is not the name of a branch'),
    ),
  ),
  'ingress-submodules': v.nullish(v.boolean()),
  'tags-regex': optional(250),
  // What documents show; clients send whole documents back.
  'display-identifier': v.nullish(v.unknown()),
  'repository-http-url': v.nullish(v.unknown()),
  'webhook-url': v.nullish(v.unknown()),
  'service-provider': v.nullish(v.unknown()),
});

export type VcsRepoInput = v.InferOutput<typeof vcsRepoInput>;
