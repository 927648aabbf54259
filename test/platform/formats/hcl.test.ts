import { describe, expect, it } from 'vitest';
import { parseHcl } from '#platform/formats/hcl.ts';

/** Types and labels of all blocks, nested ones in brackets. */
const outline = (text: string): string => {
  const of = (blocks: ReturnType<typeof parseHcl>['blocks']): string =>
    blocks
      .map(({ type, labels, blocks: inner }) => [type, ...labels].join(' ') + (inner.length ? `[${of(inner)}]` : ''))
      .join(' ');
  return of(parseHcl(text).blocks);
};

describe('blocks', () => {
  it.each([
    ['terraform {\n  backend "s3" {\n    bucket = "b"\n  }\n}', 'terraform[backend s3]'],
    ['terraform { backend s3 {} }', 'terraform[backend s3]'],
    [
      'terraform {\n cloud {\n  workspaces {\n name = "x"\n }\n }\n}\nvariable "a" {}',
      'terraform[cloud[workspaces]] variable a',
    ],
    ['\uFEFFlocals {}', 'locals'],
    ['a {\r\n x = 1\r\n}\r\nb {}\r\n', 'a b'],
  ])('%j', (text, expected) => expect(outline(text)).toBe(expected));
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: HCL's templates, not JavaScript's
describe('text that only looks like a block', () => {
  it.each([
    ['a comment', '# terraform { backend "s3" {} }\na {}', 'a'],
    ['a slash comment', '// terraform {\na {}', 'a'],
    ['a long comment', '/* terraform {\n backend "s3" {}\n} */ a {}', 'a'],
    ['a string', 'locals {\n x = "terraform { backend \\"s3\\" {"\n}\na {}', 'locals a'],
    ['a heredoc', 'locals {\n x = <<EOT\nterraform {\n  backend "s3" {}\nEOT\n}\na {}', 'locals a'],
    ['an indented heredoc', 'locals {\n  x = <<-EOT\n    }\n    terraform {\n    EOT\n  y = 1\n}\na {}', 'locals a'],
    ['a heredoc with a longer word', 'l {\n x = <<E\nEE\n E F\n}\nE\n}\na {}', 'l a'],
    ['an object', 'locals {\n x = { backend = { s3 = {} } }\n}\na {}', 'locals a'],
    ['an attribute over lines', 'locals {\n x = [\n  "}",\n  {a = 1},\n ]\n y = f(\n 1\n )\n}\na {}', 'locals a'],
    ['a template in a string', 'l {\n x = "${f("}", { a = "{" })} $${ %%{ %{ if true }}%{ endif }"\n}\na {}', 'l a'],
    ['a template in a heredoc', 'l {\n x = <<E\n${join("\n", [\n"E"\n])}\n$${E\nE\n}\na {}', 'l a'],
    ['a for expression', 'l {\n x = {for k, v in m : k => v if v != "}"}\n}\na {}', 'l a'],
    ['a conditional with less-than', 'l {\n x = a < b ? 1 : 2\n}\na {}', 'l a'],
    ['a division and a comment', 'l {\n x = 4 / 2 # }\n y = 1 // }\n}\na {}', 'l a'],
  ])('%s', (_, text, expected) => expect(outline(text)).toBe(expected));
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: end of HCL

describe('attributes', () => {
  it('keep their expressions as text', () => {
    const [variable] = parseHcl(
      'variable "x" {\n  ephemeral = true # yes\n  default=  "a"\n type = map(object({\n a = string\n }))\n}',
    ).blocks;
    expect(variable).toMatchObject({
      labels: ['x'],
      line: 1,
      attributes: {
        ephemeral: 'true',
        default: '"a"',
        type: 'map(object({\n a = string\n }))',
      },
    });
  });
  it('have the line of their block', () => {
    expect(parseHcl('\n\n/*\n*/ a {\n\n b {}\n}').blocks[0]).toMatchObject({ line: 4, blocks: [{ line: 6 }] });
  });
});

describe('invalid text', () => {
  it.each([
    'terraform {',
    'a "b',
    'x = <<E\nno end',
    '}}}}',
    'a { b = ${',
    '"',
    'terraform { backend "s3',
    '= = =',
    'a "b" = 3',
    'x = "${"${"',
  ])('is parsed to the end: %j', (text) => expect(() => parseHcl(text)).not.toThrow());
  it('does not hide the blocks on later lines', () => {
    expect(outline('locals {\n x = "unclosed\n}\na {}')).toBe('locals a');
  });
});

describe('nesting', () => {
  const deep = 100_000;
  it.each(['[', '{', '(', '"${', 'b {\n', '"a ${[', '<<E\n${'])(
    'is rejected beyond the maximum, with the line: %j',
    (opening) => {
      const text = `a = 1\n${opening.startsWith('b') ? '' : 'x = '}${opening.repeat(deep)}`;
      expect(() => parseHcl(text)).toThrow(/nested deeper than 200 levels in line \d+$/);
    },
  );

  it('is accepted up to the maximum', () => {
    const [open, close] = ['['.repeat(150), ']'.repeat(150)];
    expect(parseHcl(`a = ${open}1${close}\n`).attributes.a).toBe(`${open}1${close}`);
    const blocks = `${'b {\n'.repeat(150)}${'}\n'.repeat(150)}`;
    expect(parseHcl(blocks).faults).toEqual([]);
  });
});
