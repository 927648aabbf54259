import { lifecycleFunctions } from '#infra/stack/functions.ts';
import { definition } from '#infra/stack/lifecycle.ts';
import type { Arns } from '#infra/stack/state-builders.ts';

interface State {
  Type: string;
  Next?: string;
  Default?: string;
  End?: boolean;
  Choices?: { Next: string }[];
  Catch?: { Next: string }[];
}

/** Every state leads to these endings when a run fails or a user stops it: a sentence replaces these arrows. */
const interruptions = ['Canceled', 'Discarded', 'PlanErrored', 'ApplyErrored'];

const machine = (): { StartAt: string; States: Record<string, State> } =>
  definition(Object.fromEntries(lifecycleFunctions.map((name) => [name, name])) as Arns);

/** Next states of a state; Choices in between are not drawn. */
const waysFrom = (states: Record<string, State>, name: string): string[] => {
  const { Next, Default, Choices = [], Catch = [] } = states[name] as State;
  const ways = [...Choices.map((way) => way.Next), Default, Next, ...Catch.map((way) => way.Next)];
  return ways
    .filter((way) => way !== undefined)
    .flatMap((way) => (states[way]?.Type === 'Choice' ? waysFrom(states, way) : [way]));
};

type Ways = Map<string, string[]>;

const reaches = (ways: Ways, from: string, to: string, without?: string): boolean =>
  (ways.get(from) ?? []).some((next) => next !== without && (next === to || reaches(ways, next, to, without)));

/**
 * The run's state machine as a Mermaid flowchart, from the definition. States are in the order of life. Paths that skip
 * a step are not drawn, because they would be most of the lines.
 */
export const lifecyclePicture = (): string => {
  const { StartAt, States: states } = machine();
  const names = Object.keys(states).filter((name) => states[name]?.Type !== 'Choice' && !interruptions.includes(name));
  const all = new Map(
    names.map((name) => [name, [...new Set(waysFrom(states, name))].filter((next) => names.includes(next))]),
  );
  all.set(StartAt, waysFrom(states, StartAt));
  const isShortcut = (name: string, next: string) =>
    (all.get(name) ?? []).some((between) => between !== next && reaches(all, between, next));
  const isOptional = (name: string) => reaches(all, StartAt, 'Applied', name);

  const node = (name: string) => {
    const shape = states[name]?.End ? `${name}([${name}])` : `${name}[${name}]`;
    return isOptional(name) ? shape : `${shape}:::always`;
  };
  const lines = names.map((name) => {
    const next = (all.get(name) ?? []).filter((way) => !isShortcut(name, way));
    return next.length ? `${node(name)} --> ${next.join(' & ')}` : node(name);
  });
  return [
    '```mermaid',
    'flowchart TD',
    ...[...lines, 'classDef always stroke-width:3px'].map((line) => `  ${line}`),
    '```',
    '',
    `Steps with a thick border are in every run that applies; a run skips others that it does not need. From every state a run can also end as ${interruptions.map((name) => `\`${name}\``).join(', ')}.`,
  ].join('\n');
};
