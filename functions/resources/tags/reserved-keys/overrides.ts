import { unprocessable } from '#api/errors.ts';
import { listReservedTagKeys } from './records.ts';

interface Tag {
  key: string;
  value: string;
}

interface Tags {
  /** What the workspace is to have itself. */
  requested: Tag[];
  /** What it has by now: that stays, whatever was reserved since. */
  present?: Tag[];
  /** What it has from its project. */
  inherited?: Tag[];
}

/**
 * That no tag takes the place of an inherited one whose key is reserved so. 1 query, and only where one does.
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
