import type { Client } from '#clients/client/client.ts';
import { type Difference, differencesOf, type Kind, type RedactedPlan } from '#clients/client/text/plan.ts';
import { type Row, rowsOf, type Side } from '#clients/client/text/plan-rows.ts';
import { bold, dim, green, plain, red, yellow } from './paint.ts';

/** Prints the changes of a plan whose log has none: JSON lines contain no diff. */

const verbs: Record<Kind, string> = {
  create: 'will be created',
  update: 'will be updated in place',
  replace: 'must be replaced',
  destroy: 'will be destroyed',
  forget: 'will no longer be managed',
  import: 'will be imported',
  move: 'has moved',
  read: 'will be read during apply',
  same: 'is unchanged',
};

const signs: Partial<Record<Kind, string>> = { create: '+', update: '~', destroy: '-', replace: '-/+', read: '<=' };

const painted: Partial<Record<Kind, (text: string) => string>> = {
  create: green,
  update: yellow,
  replace: red,
  destroy: red,
};

const sideText = (side: Side): string => {
  if (!side) return 'null';
  return 'text' in side ? plain(side.text) : `(${side.hidden === 'sensitive' ? 'sensitive value' : side.hidden})`;
};

const indented = (text: string): string => text.replaceAll('\n', '\n        ');

const rowLines = ({ path, before, after, forces }: Row): string[] => {
  const [sign, paint] = before && after ? ['~', yellow] : before ? ['-', red] : (['+', green] as const);
  const value = before && after ? `${sideText(before)} → ${sideText(after)}` : sideText(before ?? after);
  const suffix = forces ? red('  # forces replacement') : '';
  return `      ${paint(sign)} ${plain(path) || 'value'} = ${indented(value)}${suffix}`.split('\n');
};

const lines = (difference: Difference): string[] => {
  const { address, kind, notes } = difference;
  const paint = painted[kind] ?? ((text: string) => text);
  return [
    '',
    `  ${bold(`# ${plain(address)}`)} ${paint(verbs[kind])}`,
    ...notes.map((note) => dim(`  # (${plain(note)})`)),
    `  ${paint((signs[kind] ?? ' ').padEnd(3))} ${plain(address)}`,
    // Destroyed resources are shown without attributes.
    ...(kind === 'destroy' ? [] : rowsOf(difference).flatMap(rowLines)),
  ];
};

/** `url`, `map.key`, `list[0]` */
const partOf = ({ address }: Difference, { path }: Row): string =>
  `${address}${path === '' || path.startsWith('[') ? '' : '.'}${path}`;

export const planLines = (plan: RedactedPlan): string[] => {
  const { resources, outputs } = differencesOf(plan);
  const changed = resources.filter(({ kind }) => kind !== 'same');
  const changedOutputs = outputs.filter(({ kind }) => kind !== 'same');
  return [
    ...changed.flatMap(lines),
    ...(changedOutputs.length ? ['', bold('Changes to outputs:')] : []),
    ...changedOutputs.flatMap((output) =>
      rowsOf(output).flatMap((row) => rowLines({ ...row, path: partOf(output, row) })),
    ),
  ];
};

/** @throws {ApiError} while the plan is not finished, and when the user may not read it */
export const readPlanLines = async (client: Client, planId: string): Promise<string[]> =>
  planLines((await (await client.content(`/plans/${planId}/json-output-redacted`)).json()) as RedactedPlan);
