import { invalidPath } from './errors.ts';

/** Path of an attribute (RFC 7644 §3.5.2, figure 7): `userName`, `name.familyName`, `emails[type eq "work"].value`. */
export interface Path {
  attribute: string;
  /** Selects entries of a list. */
  filter?: { attribute: string; value: string };
  sub?: string;
}

const form = /^([A-Za-z$][\w$-]*)(?:\[\s*([A-Za-z]\w*)\s+eq\s+("(?:[^"\\]|\\.)*")\s*\])?(?:\.([A-Za-z$][\w$-]*))?$/i;

const core = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i;

/** The name without the URN of the core schema. */
export const plainName = (name: string): string => name.replace(core, '');

/** True for attributes of other schemas, such as the enterprise extension: they are not stored. */
export const isOfExtension = (name: string): boolean => /^urn:/i.test(plainName(name));

const maxLength = 500;

/** @throws {ScimError} 400 */
export const readPath = (path: string): Path => {
  const [whole, attribute = '', name, value, sub] = form.exec(plainName(path.trim())) ?? [];
  if (whole === undefined || path.length > maxLength)
    throw invalidPath(`The path ${path.slice(0, 100)} is not supported.`);
  return {
    attribute,
    ...(name && value ? { filter: { attribute: name, value: textOf(value) } } : {}),
    ...(sub ? { sub } : {}),
  };
};

const textOf = (value: string): string => {
  try {
    return JSON.parse(value) as string;
  } catch {
    throw invalidPath('The value in the path is not a valid JSON string.');
  }
};
