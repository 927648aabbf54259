import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type BannerPart, bannerParts, sanitized } from '#platform/text/banner-text.ts';

it.each([
  ['plain', 'plain'],
  ['<b>a</b> & <i>b</i>', '<b>a</b> &amp; <i>b</i>'],
  ['<STRONG class="x">a</STRONG>', '<strong>a</strong>'],
  [
    '<a href="https://status.test/?a=1&amp;b=2" onclick="x()">s</a>',
    '<a href="https://status.test/?a=1&amp;b=2">s</a>',
  ],
  ["<a href='mailto:ops@b.test'>m</a>", '<a href="mailto:ops@b.test">m</a>'],
  ['<a href="javascript:alert(1)">x</a>', 'x'],
  ['<a href=" java\nscript:alert(1)">x</a>', 'x'],
  ['<a href="data:text/html,x">x</a>', 'x'],
  ['<script>alert(1)</script>', 'alert(1)'],
  ['<img src=x onerror=alert(1)>', ''],
  ['<svg/onload=alert(1)>', ''],
  ['<b>never closed', '<b>never closed</b>'],
  ['</b>never opened', 'never opened'],
  ['<b><i>x</b>y</i>', '<b><i>x</i></b>y'],
  ['1 < 2 > 0', '1 &lt; 2 &gt; 0'],
  ['&lt;b&gt;', '&lt;b&gt;'],
  ['<scr<b>ipt>', '&lt;scr<b>ipt&gt;</b>'],
])('banner text %j becomes %j', (html, clean) => {
  expect(sanitized(html)).toBe(clean);
  expect(sanitized(clean)).toBe(clean);
});

const tags = (parts: BannerPart[]): string[] =>
  parts.flatMap((part) => (typeof part === 'string' ? [] : [part.tag, ...tags(part.parts)]));

it('banner text keeps only the allowed tags, for any input', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '<b>',
      '</b>',
      '<a href="',
      'javascript:',
      '<script',
      '<!--',
      '&lt;',
      '&amp;lt;',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const clean = sanitized(pieces.join(''));
      expect(clean.replaceAll(/<\/?(strong|em|b|i|a)>|<a href="(https?|mailto):[^"<>]*">/g, '')).not.toMatch(/[<>]/);
      expect(sanitized(clean)).toBe(clean);
      expect(tags(bannerParts(clean)).every((tag) => ['strong', 'em', 'b', 'i', 'a'].includes(tag))).toBe(true);
    }),
    { numRuns: 500 },
  );
});
