import * as v from 'valibot';
import { email } from '#api/names.ts';
import { text } from '#api/validation.ts';
import type { Draft, Table } from '../protocol/attributes.ts';
import { invalidValue } from '../protocol/errors.ts';

/** Attributes of a provisioned user (RFC 7643 §4.1). */

const nameParts = {
  formatted: 'text',
  familyName: 'text',
  givenName: 'text',
  middleName: 'text',
  honorificPrefix: 'text',
  honorificSuffix: 'text',
} as const;

const ignored = `nickName profileUrl title userType preferredLanguage locale timezone password phoneNumbers ims photos
    addresses entitlements roles x509Certificates`;

export const userTable: Table = [
  { name: 'userName', kind: 'text' },
  { name: 'externalId', kind: 'text' },
  { name: 'displayName', kind: 'text' },
  { name: 'active', kind: 'flag' },
  { name: 'name', kind: 'complex', subs: nameParts },
  { name: 'emails', kind: 'list', subs: { value: 'text', type: 'text', display: 'text', primary: 'flag' } },
  ...['id', 'schemas', 'meta', 'groups'].map((name) => ({ name, kind: 'read-only' as const })),
  ...ignored.split(/\s+/).map((name) => ({ name, kind: 'ignored' as const })),
];

const short = text(256);
const part = v.optional(short);

const schema = v.object({
  // Case-insensitively unique, and a part of a key of the table.
  userName: v.pipe(text(200), v.minLength(1, 'is missing')),
  externalId: part,
  displayName: part,
  active: v.optional(v.boolean()),
  name: v.optional(
    v.object({
      formatted: part,
      familyName: part,
      givenName: part,
      middleName: part,
      honorificPrefix: part,
      honorificSuffix: part,
    }),
  ),
  emails: v.pipe(
    v.array(v.object({ value: email, type: part, display: part, primary: v.optional(v.boolean()) })),
    v.minLength(1, 'needs at least one address'),
    v.maxLength(10, 'may have at most 10 addresses'),
  ),
});

export type UserAttributes = v.InferOutput<typeof schema>;

/** Directories without a mapping for addresses send one as the name. */
const withAddress = (draft: Draft): Draft =>
  draft.emails === undefined && v.is(email, draft.userName)
    ? { ...draft, emails: [{ value: draft.userName, primary: true }] }
    : draft;

/** @throws {ScimError} 400 */
export const readAttributes = (draft: Draft): UserAttributes => {
  const { success, output, issues } = v.safeParse(schema, withAddress(draft));
  if (success) return output;
  const [issue] = issues;
  throw invalidValue(`${v.getDotPath(issue) ?? 'body'}: ${issue.message}`);
};

/** The address that links the user to an account. */
export const addressOf = ({ emails }: Pick<UserAttributes, 'emails'>): string =>
  (emails.find(({ primary }) => primary) ?? emails[0])?.value ?? '';
