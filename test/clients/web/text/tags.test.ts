import { expect, it } from 'vitest';
import { tagsIn, textOfTags } from '#clients/web/text/tags.ts';

it('tags are parsed as they are shown, with any content', () => {
  const tags = [
    { key: 'critical', value: '' },
    { key: 'team', value: 'network and more' },
    { key: 'a=b', value: 'c=d' },
    { key: 'a=b', value: '' },
    { key: 'a: b', value: 'c' },
  ];
  expect(tagsIn(textOfTags(tags), tags)).toEqual(tags);
});

it('a typed tag is split at the first equals sign, or colon before a space', () => {
  expect(tagsIn('  cost-center=42 \r\n\nurl = a=b\nalone\nteam: a: b=c\nenv:production', [])).toEqual([
    { key: 'cost-center', value: '42' },
    { key: 'url', value: 'a=b' },
    { key: 'alone', value: '' },
    { key: 'team', value: 'a: b=c' },
    { key: 'env:production', value: '' },
  ]);
});
