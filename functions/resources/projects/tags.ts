import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import { tagKey, tagValue } from '#api/names.ts';
import { typeOf } from '#api/validation.ts';

/**
 * A tag binding, whose value may be '', or a plain tag. Tags are in arrays, because objects inherit keys such as
 * `constructor`.
 */
export interface Tag {
  key: string;
  value: string;
  /** Set by its name alone (HCP API: workspaces, tags), so that it is no tag binding. */
  plain?: true;
}

export const plainTag = (key: string): Tag => ({ key, value: '', plain: true });

/** Names in the older API of tags: of plain tags, and of tag bindings without a value. */
export const tagNames = (tags: readonly Tag[]): string[] =>
  tags.filter(({ value }) => value === '').map(({ key }) => key);

export const isBinding = ({ plain }: Tag): boolean => !plain;

/** Maximum of all tags of a workspace. */
export const maxTags = 50;
/** Of its tag bindings: HCP Terraform refuses 26 (go-tfe: `TestWorkspacesAddTagBindings`). */
const maxBindings = 25;

/** `{data: [{attributes: {key, value}}]}` */
export const tagBindingList = v.pipe(
  v.array(
    v.object({
      type: typeOf('tag-bindings'),
      attributes: v.object({ key: tagKey, value: v.nullish(tagValue, '') }),
    }),
  ),
  v.maxLength(maxBindings, `may have at most ${maxBindings} tag bindings`),
);

/** One tag per key: the last one, at the place of the first one. */
export const distinct = (tags: Tag[]): Tag[] => [...new Map(tags.map((tag) => [tag.key, tag])).values()];

export const bindingOf = ({ attributes }: { attributes: { key: string; value: string | null } }): Tag => ({
  key: attributes.key,
  value: attributes.value ?? '',
});

/**
 * Checks the maximum number of tags. A workspace or project that already exceeds it may reduce them.
 * @throws {ApiError} 422
 */
export const checkTagCount = (what: 'workspace' | 'project', requested: Tag[], present: Tag[] = []): void => {
  const checkCount = (kind: string, max: number, isCounted: (tag: Tag) => boolean): void => {
    const count = distinct(requested).filter(isCounted).length;
    if (count > max && count > present.filter(isCounted).length) {
      throw unprocessable('/data', `a ${what} has at most ${max} ${kind}; this would make ${count}`);
    }
  };
  checkCount('tag bindings', maxBindings, isBinding);
  checkCount('tags', maxTags, () => true);
};

interface Tagged {
  id: string;
  tags?: Tag[];
  createdAt: string;
}

export const tagBindingDocuments = ({ id, tags = [], createdAt }: Tagged) =>
  tags.filter(isBinding).map(({ key, value }) => ({
    id: tagId('tb', id, key),
    type: 'tag-bindings',
    attributes: { key, value, 'created-at': createdAt },
  }));

/** Tags have no records; the id is derived, so that a tag always has the same one. */
export const tagId = (prefix: string, scope: string, key: string): string =>
  `${prefix}-${createHash('sha256').update(`${scope}\n${key}`).digest('hex').slice(0, 16)}`;
