import { describe, expect, it } from 'vitest';
import { type Change, differencesOf } from '#clients/client/text/plan.ts';
import { rowsOf } from '#clients/client/text/plan-rows.ts';

const rows = (change: Partial<Change>) =>
  rowsOf({ change: { actions: ['update'], ...change } }).map(({ path, before, after, forces }) => [
    path,
    ...[before, after].map((side) => (!side ? '–' : 'text' in side ? side.text : `(${side.hidden})`)),
    ...(forces ? ['forces'] : []),
  ]);

describe('changes of a resource', () => {
  it('are shown by attribute, without unchanged ones', () => {
    expect(
      rows({
        before: { name: 'a', size: 1, tags: { env: 'x', 'my team': 'net' }, same: [1, 2] },
        after: { name: 'b', size: 1, tags: { env: 'x', 'my team': 'ops' }, same: [1, 2] },
      }),
    ).toEqual([
      ['name', '"a"', '"b"'],
      ['tags["my team"]', '"net"', '"ops"'],
    ]);
  });

  it('show an element inserted at the start of a list as one row', () => {
    expect(rows({ before: { zones: ['a', 'b'] }, after: { zones: ['c', 'a', 'b'] } })).toEqual([
      ['zones[0]', '–', '"c"'],
    ]);
  });

  it('show an inserted element as one row with Terraform’s masks for each element, too', () => {
    const change = {
      before: { zones: ['a', 'b'] },
      after: { zones: ['c', 'a', 'b'] },
      before_sensitive: { zones: [false, false] },
      after_sensitive: { zones: [false, false, false] },
    };
    expect(rows(change)).toEqual([['zones[0]', '–', '"c"']]);
    expect(rows({ ...change, after_sensitive: { zones: [true, false, false] } })[0]).toEqual([
      'zones[0]',
      '(sensitive)',
      '(sensitive)',
    ]);
  });

  it('show a new order of the same elements', () => {
    expect(rows({ before: { zones: ['a', 'b'] }, after: { zones: ['b', 'a'] } })).toEqual([
      ['zones[0]', '"a"', '"b"'],
      ['zones[1]', '"b"', '"a"'],
    ]);
  });

  it('include nested blocks', () => {
    expect(rows({ before: { rule: [{ port: 80 }] }, after: { rule: [{ port: 80 }, { port: 443 }] } })).toEqual([
      ['rule[1].port', '–', '443'],
    ]);
  });

  it('mark values known after apply', () => {
    expect(rows({ before: { id: '1', name: 'a' }, after: { name: 'a' }, after_unknown: { id: true } })).toEqual([
      ['id', '"1"', '(known after apply)'],
    ]);
    expect(rows({ before: null, after: {}, after_unknown: true })).toEqual([['', '–', '(known after apply)']]);
  });

  it('never show a sensitive value, but show that it changes', () => {
    const change = {
      before: { password: '(sensitive value)', user: 'a' },
      after: { password: '(sensitive value, changed)', user: 'a' },
      before_sensitive: { password: true },
      after_sensitive: {},
    };
    expect(rows(change)).toEqual([['password', '(sensitive)', '(sensitive)']]);
    expect(rows({ ...change, after: change.before })).toEqual([]);
  });

  it('name the attribute that forces the replacement first, not others with the same prefix', () => {
    expect(
      rows({
        actions: ['delete', 'create'],
        before: { ami: 'a', name: 'a', name_prefix: 'x', disk: { size: 1 } },
        after: { ami: 'b', name: 'b', name_prefix: 'y', disk: { size: 2 } },
        replace_paths: [['name'], ['disk']],
      }),
    ).toEqual([
      ['disk.size', '1', '2', 'forces'],
      ['name', '"a"', '"b"', 'forces'],
      ['ami', '"a"', '"b"'],
      ['name_prefix', '"x"', '"y"'],
    ]);
  });

  it('format JSON in a string, and keep multi-line text', () => {
    expect(
      rows({ before: { policy: '{"a":1}', text: 'one\ntwo' }, after: { policy: '{"a":2}', text: 'one\nthree' } }),
    ).toEqual([
      ['policy', '{\n  "a": 1\n}', '{\n  "a": 2\n}'],
      ['text', 'one\ntwo', 'one\nthree'],
    ]);
  });

  it('show characters that are hidden or reorder others', () => {
    const before = { user: 'admin', text: 'one\ntwo', tags: { '\u202egnp.exe': 'x' } };
    const after = { user: 'admin\u200b', text: 'one\r\ntwo', tags: { '\u202egnp.exe': '\u202ey' } };
    expect(rows({ before, after })).toEqual([
      ['tags["\\u202egnp.exe"]', '"x"', '"\\u202ey"'],
      ['text', 'one\ntwo', 'one\\u000d\ntwo'],
      ['user', '"admin"', '"admin\\u200b"'],
    ]);
  });

  it('do not mistake inherited property names for attributes', () => {
    expect(rows({ before: {}, after: { constructor: 'x', tags: {} }, before_sensitive: {} })).toEqual([
      ['constructor', '–', '"x"'],
      ['tags', '–', '{}'],
    ]);
  });
});

describe('a plan', () => {
  const kinds = (changes: object[]) =>
    differencesOf({ resource_changes: changes as never }).resources.map(({ address, kind, notes }) => [
      address,
      kind,
      ...notes,
    ]);
  const change = (actions: string[], more: object = {}) => ({ actions, before: {}, after: {}, ...more });

  it('reports each kind of difference, the riskiest first', () => {
    expect(
      kinds([
        { address: 'a', change: change(['create']) },
        { address: 'b', change: change(['update']) },
        { address: 'c', change: change(['delete']), action_reason: 'delete_because_each_key' },
        { address: 'd', change: change(['delete', 'create']), action_reason: 'replace_because_tainted' },
        { address: 'e', change: change(['create', 'delete']) },
        { address: 'f', change: change(['no-op']), previous_address: 'old.f' },
        { address: 'g', change: change(['no-op'], { importing: { id: 'i-1' } }) },
        { address: 'h', change: change(['forget']) },
        { address: 'i', change: change(['read']) },
        { address: 'j', change: change(['no-op']) },
      ]),
    ).toEqual([
      ['c', 'destroy', 'its key is no longer in for_each'],
      ['d', 'replace', 'it is tainted: an earlier apply did not complete it'],
      ['e', 'replace', 'created before the old one is destroyed'],
      ['b', 'update'],
      ['a', 'create'],
      ['g', 'import', 'imported from i-1'],
      ['f', 'move', 'moved from old.f'],
      ['h', 'forget'],
      ['i', 'read'],
      ['j', 'same'],
    ]);
  });

  it('notes additional kinds of change of a resource', () => {
    const { resources } = differencesOf({
      resource_changes: [
        { address: 'a', previous_address: 'old.a', change: { actions: ['update'], importing: { id: 'i-1' } } },
        { address: 'b', previous_address: 'old.b', change: { actions: ['no-op'] } },
      ],
    });
    expect(resources.map(({ kind, also }) => [kind, ...also])).toEqual([['update', 'move', 'import'], ['move']]);
  });

  it('without content has no differences', () => {
    expect(differencesOf({ resource_changes: null, output_changes: null })).toEqual({
      resources: [],
      outputs: [],
      drift: [],
    });
  });
});
