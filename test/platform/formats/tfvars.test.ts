import { describe, expect, it } from 'vitest';
import { expressionOf, literalText } from '#platform/formats/tfvars.ts';

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: HCL's templates, not JavaScript's
describe('the text of an expression', () => {
  it.each([
    ['"eu"', 'eu'],
    ['""', ''],
    ['"a\\n\\"b\\" \\\\ \\u00e9 \\U0001F600"', 'a\n"b" \\ é 😀'],
    ['"$${kept} %%{ if } $5 100%"', '${kept} %{ if } $5 100%'],
    ['<<EOT\na = b\n  c\nEOT', 'a = b\n  c\n'],
    ['<<EOT\n$${x}\nEOT', '${x}\n'],
  ])('%j', (expression, text) => expect(literalText(expression)).toBe(text));

  it.each([
    '1',
    'true',
    'null',
    '["a"]',
    '"${a}"',
    '"%{ if x }a%{ endif }"',
    '"a" + "b"',
    '"\\q"',
    '<<-EOT\n  a\n  EOT',
  ])('is undefined for %j', (expression) => expect(literalText(expression)).toBeUndefined());

  it('of JSON is the literal text', () => {
    for (const text of ['${a} %{b}', '\b\f\n\\"', 'plain', '$${', '%%'])
      expect(literalText(expressionOf(text))).toBe(text);
  });
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above
