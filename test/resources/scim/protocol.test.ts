import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readDraft } from '#resources/scim/protocol/attributes.ts';
import { ScimError } from '#resources/scim/protocol/errors.ts';
import { readFilter } from '#resources/scim/protocol/filter.ts';
import { patched } from '#resources/scim/protocol/patch.ts';
import { readPath } from '#resources/scim/protocol/paths.ts';
import { readAttributes, userTable } from '#resources/scim/users/attributes.ts';
import { anyCharacter } from '#test/support/any-character.ts';

/** Filters, paths and operations that directories and attackers could send. */

const supported = ['id', 'userName', 'emails.value'] as const;

const rejectsOrReads = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch (error) {
    if (!(error instanceof ScimError)) throw error;
    return error.status === 400;
  }
};

it('a filter on any text reads back as that text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string(), (a, b) => {
      const conditions = readFilter(`userName eq ${JSON.stringify(a)} and id EQ ${JSON.stringify(b)}`, supported);
      expect(conditions).toEqual([
        { attribute: 'userName', value: a },
        { attribute: 'id', value: b },
      ]);
    }),
  );
});

const words = fc.constantFrom(
  ...[
    'userName',
    'emails[type eq "work"].value',
    'eq',
    'EQ',
    'and',
    'or',
    'not',
    '(',
    ')',
    '"a"',
    '"',
    '\\',
    'true',
    ' ',
  ],
  ...['emails[', ']', '.', 'sw', 'urn:ietf:params:scim:schemas:core:2.0:User:', '__proto__', 'constructor', '\u0000'],
);
const sentence = fc.array(words, { maxLength: 12 }).map((list) => list.join(' '));

it('every other filter and path is rejected, without another error', () => {
  fc.assert(fc.property(sentence, (text) => rejectsOrReads(() => readFilter(text, supported))));
  fc.assert(fc.property(fc.oneof(sentence, fc.string()), (text) => rejectsOrReads(() => readPath(text))));
});

it('long hostile filters and paths take no noticeable time', () => {
  for (const part of [
    'a',
    '.',
    'a.',
    ' ',
    '"',
    '\\"',
    'emails[type eq "',
    'userName eq "a" and ',
    'urn:',
    ':1.1:User:',
  ]) {
    const text = part.repeat(4000 / part.length);
    const begun = performance.now();
    rejectsOrReads(() => readFilter(text, supported));
    rejectsOrReads(() => readPath(text));
    expect([part, performance.now() - begun < 500]).toEqual([part, true]);
  }
});

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>;
const path = fc.oneof(
  fc.constantFrom('userName', 'NAME.familyname', 'emails', 'emails[value eq "a"]', 'emails[type eq "work"].value'),
  fc.constantFrom('active', 'externalId', '__proto__', 'constructor.prototype', 'emails.primary', 'title', 'name'),
  sentence,
);
const operation = fc.record({ op: fc.constantFrom('add', 'replace', 'remove'), path, value: json });

it('operations change only attributes of the schema, and leave the former resource unchanged', () => {
  const before = {
    userName: 'a',
    emails: [{ value: 'a@b.test', type: 'work', primary: true }],
    name: { familyName: 'b' },
  };
  const copy = structuredClone(before);
  const names = userTable.map(({ name }) => name);
  fc.assert(
    fc.property(fc.array(operation as fc.Arbitrary<{ op: 'add'; path: string; value: unknown }>), (operations) => {
      let draft: Record<string, unknown> = before;
      rejectsOrReads(() => {
        for (const one of operations) draft = patched(userTable, draft, one);
      });
      expect(before).toEqual(copy);
      expect(Object.keys(draft).filter((name) => !names.includes(name))).toEqual([]);
      expect(Object.getPrototypeOf(draft)).toBe(Object.prototype);
      expect(rejectsOrReads(() => readAttributes(draft))).toBe(true);
    }),
  );
});

it('any JSON is a user, or rejected', () => {
  fc.assert(fc.property(json, (body) => rejectsOrReads(() => readAttributes(readDraft(userTable, body)))));
});

it('at most one address is the primary one after an addition', () => {
  const draft = { emails: [{ value: 'a@b.test', primary: true }] };
  const { emails } = patched(userTable, draft, {
    op: 'add',
    path: 'emails',
    value: [{ value: 'c@b.test', primary: 'True' }],
  });
  expect(emails).toEqual([
    { value: 'a@b.test', primary: false },
    { value: 'c@b.test', primary: true },
  ]);
});

it('a path without a filter changes every entry', () => {
  const draft = { emails: [{ value: 'a@b.test' }, { value: 'c@b.test' }] };
  const { emails } = patched(userTable, draft, { op: 'replace', path: 'emails.type', value: 'home' });
  expect(emails).toEqual(draft.emails.map((email) => ({ ...email, type: 'home' })));
});
