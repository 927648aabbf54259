import { expect, it } from 'vitest';
import { visible } from '#platform/text/visible.ts';

it.each([
  ['a\u200bb', 'a\\u200bb'],
  ['\u202egnp.exe\u202c', '\\u202egnp.exe\\u202c'],
  ['a\u2066b\ufeff\u00ad', 'a\\u2066b\\ufeff\\u00ad'],
  ['\u{e0041}x\u3164', '\\u{e0041}x\\u3164'],
  ['\x1b[31m\0\r\x9b', '\\u001b[31m\\u0000\\u000d\\u009b'],
  // Joiners and selectors without an effect on their neighbors.
  ['a\u200db\u200cc1\ufe0f', 'a\\u200db\\u200cc1\\ufe0f'],
])('hidden characters in %j become visible', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

it.each([
  ['a plain line\n\twith a tab'],
  ['שלום, äöü, 日本語'],
  ['👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3 🇫🇷 👍🏽'],
  ['می\u200cخواهم'],
  ['क्\u200dष'],
])('%j stays unchanged', (text) => {
  expect(visible(text)).toBe(text);
});

it('a megabyte of text is processed without a noticeable wait', () => {
  const before = process.cpuUsage();
  visible('é\u200b'.repeat(500_000));
  visible('x'.repeat(1_000_000));
  // Processor time, because other processes may keep the machine busy.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_000);
});
