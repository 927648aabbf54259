import { expect, it } from 'vitest';
import { type Entry, matching } from '#clients/web/text/palette.ts';

const entry = (name: string, of = ''): Entry => ({ name, of, to: { view: 'home' } });
const entries = [
  entry('Runs', 'acme'),
  entry('network'),
  entry('my-network'),
  entry('subnetwork'),
  entry('Runs', 'net'),
];

it.each([
  ['', ['Runs', 'network', 'my-network', 'subnetwork', 'Runs']],
  ['NET', ['network', 'my-network', 'subnetwork', 'Runs']],
  ['runs net', ['Runs']],
  ['nothing', []],
])('"%s" finds the best match first', (text, names) => {
  expect(matching(text, entries).map(({ name }) => name)).toEqual(names);
});
