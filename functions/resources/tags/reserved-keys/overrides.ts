import { unprocessable } from '#api/errors.ts';
import { listReservedTagKeys } from './records.ts';

interface Tag {
  key: string;
  value: string;
}

interface Tags {
  /** Tags to set on the workspace. */
  requested: Tag[];
  /** Its current tags, which stay even if their keys were reserved since. */
  present?: Tag[];
  /** Tags inherited from its project. */
  inherited?: Tag[];
}

/**
 * Checks that no tag overrides an inherited one with a reserved key. 1 query, and only if a tag overrides one.
 * @throws {ApiError} 422
 */
export const checkOverrides = async (
  organization: string,
  { requested, present = [], inherited = [] }: Tags,
): Promise<void> => {
  const overriding = requested.filter(
    ({ key, value }) =>
      !present.some((tag) => tag.key === key && tag.value === value) &&
      inherited.some((tag) => tag.key === key && tag.value !== value),
  );
  if (overriding.length === 0) return;
  const reserved = (await listReservedTagKeys(organization)).filter(({ disableOverrides }) => disableOverrides);
  const refused = overriding.find(({ key }) => reserved.some((reservedKey) => reservedKey.key === key));
  if (!refused) return;
  throw unprocessable(
    '/data/relationships/tag-bindings',
    `tag-bindings: the tag key ${refused.key} is reserved, and its inherited value cannot be overridden. Remove the tag from the workspace, or change it in the project`,
  );
};
