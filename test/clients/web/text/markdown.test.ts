import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Inline, parseInline, safeHref } from '#clients/web/text/inline.ts';
import { type Block, maxMarkdown, parseMarkdown } from '#clients/web/text/markdown.ts';

const textOf = (inlines: Inline[]): string =>
  inlines
    .map((inline) => (typeof inline === 'string' ? inline : 'text' in inline ? inline.text : textOf(inline.children)))
    .join('');
const hrefs = (inlines: Inline[]): string[] =>
  inlines.flatMap((inline) => {
    if (typeof inline === 'string' || !('children' in inline)) return [];
    return [...(inline.kind === 'link' ? [inline.href] : []), ...hrefs(inline.children)];
  });
const inlinesOf = (blocks: Block[]): Inline[] =>
  blocks.flatMap((block): Inline[] => {
    if (block.kind === 'quote') return inlinesOf(block.blocks);
    if (block.kind === 'list') return block.items.flatMap(inlinesOf);
    if (block.kind === 'table') return [...block.head, ...block.rows.flat()].flat();
    return 'children' in block ? block.children : [];
  });

describe('inline Markdown', () => {
  it.each<[string, Inline[]]>([
    ['plain', ['plain']],
    [
      '**bold** and *thin* and ~~gone~~',
      [
        { kind: 'strong', children: ['bold'] },
        ' and ',
        { kind: 'em', children: ['thin'] },
        ' and ',
        { kind: 'del', children: ['gone'] },
      ],
    ],
    ['**a *b* c**', [{ kind: 'strong', children: ['a ', { kind: 'em', children: ['b'] }, ' c'] }]],
    ['`**no**`', [{ kind: 'code', text: '**no**' }]],
    ['``a ` b``', [{ kind: 'code', text: 'a ` b' }]],
    ['snake_case_name and 2 * 3 * 4', ['snake_case_name and 2 * 3 * 4']],
    ['\\*not\\*', ['*not*']],
    ['[text](https://a.test/x "title")', [{ kind: 'link', href: 'https://a.test/x', children: ['text'] }]],
    ['![image](https://a.test/x.png)', [{ kind: 'link', href: 'https://a.test/x.png', children: ['image'] }]],
    ['see https://a.test/x.', ['see ', { kind: 'link', href: 'https://a.test/x.', children: ['https://a.test/x.'] }]],
    ['<https://a.test/>', [{ kind: 'link', href: 'https://a.test/', children: ['https://a.test/'] }]],
    ['**open', ['**open']],
    ['[open](', ['[open](']],
  ])('%s', (text, expected) => {
    expect(parseInline(text)).toEqual(expected);
  });

  it.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:x)',
    '[x](file:///etc/passwd)',
    '[x](//evil.test)',
    '[x](/app/settings/tokens)',
    '<javascript:alert(1)>',
    '![x](javascript:alert(1))',
    '<a href="javascript:alert(1)">x</a>',
  ])('creates no link for %s', (text) => {
    expect(hrefs(parseInline(text))).toEqual([]);
  });

  it('leaves HTML as text', () => {
    const evil = '<img src=x onerror="alert(1)"><script>alert(1)</script>';
    expect(parseInline(evil)).toEqual([evil]);
  });
});

describe('blocks', () => {
  const kinds = (text: string) => parseMarkdown(text).map(({ kind }) => kind);

  it('are distinguished', () => {
    const text =
      '# Title\n\nfirst\nline\n\n- a\n- b\n\n1. c\n\n> said\n\n```hcl\n# no title\n```\n---\n| a | b |\n|---|---|\n| 1 | 2 |';
    expect(kinds(text)).toEqual(['heading', 'paragraph', 'list', 'list', 'quote', 'code', 'rule', 'table']);
  });

  it('keep their content', () => {
    expect(parseMarkdown('- a\n  - b\n- c')).toEqual([
      {
        kind: 'list',
        ordered: false,
        items: [
          [
            { kind: 'paragraph', children: ['a'] },
            { kind: 'list', ordered: false, items: [[{ kind: 'paragraph', children: ['b'] }]] },
          ],
          [{ kind: 'paragraph', children: ['c'] }],
        ],
      },
    ]);
    expect(parseMarkdown('| a | **b** |\n|:-:|---|\n| `1` | 2 |')).toEqual([
      {
        kind: 'table',
        head: [['a'], [{ kind: 'strong', children: ['b'] }]],
        rows: [[[{ kind: 'code', text: '1' }], ['2']]],
      },
    ]);
    expect(parseMarkdown('```\n<b>\n')).toEqual([{ kind: 'code', text: '<b>\n' }]);
  });

  it('never contain unsafe links', () => {
    const bits = fc.constantFrom(
      'a',
      ' ',
      '\n',
      '*',
      '_',
      '`',
      '[',
      ']',
      '(',
      ')',
      '<',
      '>',
      '#',
      '-',
      '|',
      '1.',
      '~~',
      '\\',
      'https://a.test',
      'javascript:b',
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 80 }), (parts) => {
        const text = parts.join('');
        const blocks = parseMarkdown(text);
        for (const href of hrefs(inlinesOf(blocks))) expect(safeHref(href)).toBe(href);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '*',
    '_',
    '`',
    '[',
    '![',
    '**',
    '~~',
    '> ',
    '- ',
    '  - ',
    '|',
    '\\',
    '<https://',
    '# ',
    '```\n',
    '| a |\n|-|\n',
    '[a](',
    '(',
    'https://a.test/*_',
  ])(
    'of only %j are parsed quickly, and not too deep to be shown',
    (bit) => {
      const blocks = parseMarkdown(bit.repeat(maxMarkdown / bit.length));
      expect(JSON.stringify(blocks).length).toBeGreaterThan(0);
      expect(textOf(inlinesOf(blocks)).length).toBeLessThanOrEqual(maxMarkdown);
    },
    10_000,
  );

  const many = (bit: string) => bit.repeat(maxMarkdown / bit.length - 10);

  it.each([
    ['a heading with a gap', `# a${many(' ')}b`],
    ['a heading of signs', `# a${many('#')}b`],
    ['a rule with a gap', `- -${many(' ')}b`],
    ['a divider with a gap', `|a|\n|${many(' ').slice(10)}-b`],
    ['a divider with a gap behind', `|a|\n|-${many(' ').slice(10)}b`],
    ['links that all end at the same place', `${many('![x](y ')})`],
    ['brackets that all close at the same place', `${many('[')}](x)`],
  ])(
    'are parsed quickly when a long match fails: %s',
    (_, text) => {
      const blocks = parseMarkdown(text);
      expect(textOf(inlinesOf(blocks)).length).toBeLessThanOrEqual(maxMarkdown);
    },
    10_000,
  );
});
