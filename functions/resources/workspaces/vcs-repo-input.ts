import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { check, text } from '#api/validation.ts';
import type { Workspace, WorkspaceChange } from './records.ts';

/** Input of a workspace's `vcs-repo` (HCP API: workspaces). */

const segment = /^[A-Za-z0-9_.~-]+$/;

/** `owner/name`, or with groups `a/b/name`. */
export const isIdentifier = (identifier: string): boolean => {
  const parts = identifier.split('/');
  return (
    identifier.length <= 400 &&
    parts.length >= 2 &&
    parts.length <= 20 &&
    parts.every((part) => segment.test(part) && part !== '.' && part !== '..')
  );
};

/** The rules of git-check-ref-format(1) that matter here. */
export const isBranch = (branch: string): boolean =>
  branch.length <= 250 &&
  !/[\0-\x20~^:?*[\\\x7f]|\.\.|@\{|\/\/|^[/-]|\/$|\.$/.test(branch) &&
  branch.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));

const optional = (maxLength: number) => v.nullish(text(maxLength));

export const vcsRepoInput = v.strictObject({
  identifier: v.optional(v.pipe(v.string(), v.check(isIdentifier, 'must be like owner/name'))),
  'oauth-token-id': optional(100),
  'github-app-installation-id': optional(100),
  branch: v.nullish(
    v.pipe(
      text(250),
      v.check((branch) => branch === '' || isBranch(branch), 'is not the name of a branch'),
    ),
  ),
  'ingress-submodules': v.nullish(v.boolean()),
  'tags-regex': optional(250),
  // Read-only attributes; clients send whole documents back.
  'display-identifier': v.nullish(v.unknown()),
  'repository-http-url': v.nullish(v.unknown()),
  'webhook-url': v.nullish(v.unknown()),
  'service-provider': v.nullish(v.unknown()),
});

export type VcsRepoInput = v.InferOutput<typeof vcsRepoInput>;

/** Undefined when the request does not mention it; null disconnects. @throws {ApiError} 422 */
export const vcsRepoIn = (request: ApiRequest): VcsRepoInput | null | undefined => {
  const attributes = v.optional(v.object({ 'vcs-repo': v.nullish(vcsRepoInput) }));
  const schema = v.object({ data: v.optional(v.object({ attributes })) });
  return check(schema, request.json() ?? {}).data?.attributes?.['vcs-repo'];
};

const at = '/data/attributes';

/** Whether the request explicitly enables file triggers, which are on by default. */
const asksForFileTriggers = (request: ApiRequest): boolean => {
  const { data } = (request.json() ?? {}) as { data?: { attributes?: Record<string, unknown> | null } | null };
  return data?.attributes?.['file-triggers-enabled'] === true;
};

/**
 * Resolves exclusive trigger settings: setting one kind clears the other, as clients expect.
 * @param tagsRegex value after the change
 * @throws {ApiError} 422
 */
export const settleFileTriggers = (
  request: ApiRequest,
  change: WorkspaceChange,
  current: Workspace | undefined,
  tagsRegex: string | null,
): void => {
  const { triggerPatterns: patterns, triggerPrefixes: prefixes } = change;
  const after = { triggerPatterns: [], triggerPrefixes: [], fileTriggersEnabled: true, ...current, ...change };
  if (tagsRegex) {
    if (asksForFileTriggers(request) || patterns?.length || prefixes?.length) {
      throw unprocessable(
        `${at}/vcs-repo/tags-regex`,
        'tags-regex: cannot be set together with file-triggers-enabled, trigger-patterns or trigger-prefixes',
      );
    }
    if (after.fileTriggersEnabled) change.fileTriggersEnabled = false;
    if (after.triggerPatterns.length) change.triggerPatterns = [];
    return;
  }
  if (after.triggerPatterns.length && !after.fileTriggersEnabled) {
    const detail = "'trigger_patterns' cannot be populated when 'file_triggers_enabled' is set to false.";
    throw unprocessable(`${at}/trigger-patterns`, detail);
  }
};
