import { lifecycleFunctions } from '../functions.ts';
import { definition } from '../lifecycle.ts';
import type { Arns } from '../state-builders.ts';

interface State {
  Type: string;
  Next?: string;
  Default?: string;
  End?: boolean;
  Choices?: { Next: string }[];
  Catch?: { Next: string }[];
}

/** Every state leads to these when a run fails or a person stops it: drawn once, as a sentence. */
const interruptions = ['Canceled', 'Discarded', 'PlanErrored', 'ApplyErrored'];

/** Where the machine goes from a state, in the order of its definition. */
const waysFrom = ({ Next, Default, Choices = [], Catch = [] }: State): string[] => [
  ...new Set(
    [...Choices, ...(Default ? [{ Next: Default }] : []), ...(Next ? [{ Next }] : []), ...Catch].map((way) => way.Next),
  ),
];

/** The run's state machine as a Mermaid flowchart, without the ways to an interrupted run. */
export const lifecyclePicture = (): string => {
  const arns = Object.fromEntries(lifecycleFunctions.map((name) => [name, name])) as Arns;
  const states = Object.entries(definition(arns).States as Record<string, State>).filter(
    ([name]) => !interruptions.includes(name),
  );
  const node = (name: string, { Type, End }: State): string =>
    Type === 'Choice' ? `${name}{${name}}` : End ? `${name}([${name}])` : `${name}[${name}]`;
  const lines = states.map(([name, state]) => {
    const ways = waysFrom(state).filter((next) => !interruptions.includes(next));
    return ways.length ? `${node(name, state)} --> ${ways.join(' & ')}` : node(name, state);
  });
  return [
    '```mermaid',
    'flowchart TD',
    ...lines.map((line) => `  ${line}`),
    '```',
    '',
    `From every state a run can also end as ${interruptions.map((name) => `\`${name}\``).join(', ')}.`,
  ].join('\n');
};
