import { codeOf, type Node, Parser, type Range, RegexError } from './regex-syntax.ts';

/** Matches expressions (regex-syntax.ts) in time linear in the text. */

/**
 * Instructions: `one` consumes a character, `split` continues at two places, the others continue if their condition
 * holds.
 */
type Step =
  | { kind: 'one'; ranges: readonly Range[] }
  | { kind: 'split'; to: number[] }
  | { kind: 'start' | 'end' | 'match' };

const maxSteps = 100_000;

const compile = (node: Node): Step[] => {
  const steps: Step[] = [];
  const add = (step: Step): void => {
    if (steps.length >= maxSteps) throw new RegexError('the expression is too large');
    steps.push(step);
  };
  const addSplit = (...to: number[]): number[] => {
    add({ kind: 'split', to });
    return to;
  };
  const emit = (one: Node): void => {
    if (one.kind === 'all') one.parts.forEach(emit);
    else if (one.kind === 'any') emitAny(one.parts);
    else if (one.kind === 'repeat') emitRepeat(one);
    else add(one);
  };
  const emitAny = (parts: readonly Node[]): void => {
    const ends = parts.map((part, i) => {
      const fork = i < parts.length - 1 ? addSplit(steps.length + 1) : undefined;
      emit(part);
      const end = addSplit();
      fork?.push(steps.length);
      return end;
    });
    for (const end of ends) end.push(steps.length);
  };
  const emitRepeat = ({ part, min, max }: Extract<Node, { kind: 'repeat' }>): void => {
    for (let i = 0; i < min; i++) emit(part);
    const endless = max === Number.POSITIVE_INFINITY;
    const forks: number[][] = [];
    for (let i = min; i < (endless ? min + 1 : max); i++) {
      const at = steps.length;
      forks.push(addSplit(at + 1));
      emit(part);
      if (endless) addSplit(at);
    }
    for (const fork of forks) fork.push(steps.length);
  };
  emit(node);
  add({ kind: 'match' });
  return steps;
};

interface Edges {
  start: boolean;
  end: boolean;
}

/** States of the program that are reached without consuming a character. */
const reach = (steps: readonly Step[], from: readonly number[], edges: Edges): Set<number> => {
  const reached = new Set<number>();
  const left = [...from];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (reached.has(at)) continue;
    reached.add(at);
    const step = steps[at] as Step;
    if (step.kind === 'split') left.push(...step.to);
    else if ((step.kind === 'start' && edges.start) || (step.kind === 'end' && edges.end)) left.push(at + 1);
  }
  return reached;
};

const eats = (step: Step | undefined, code: number): boolean =>
  step?.kind === 'one' && step.ranges.some(([from, to]) => from <= code && code <= to);

/**
 * States of the program at a position of the text, and for each possible next character the place that follows; `true`:
 * the expression matches.
 */
interface Place {
  at: readonly number[];
  after: Map<number, Place | true>;
}

const maxKept = 10_000;

/** Whether the expression matches anywhere in the text. */
export type Regex = (text: string) => boolean;

/** @throws {RegexError} */
export const regexOf = (expression: string): Regex => {
  const steps = compile(new Parser(expression).parse());
  const match = steps.length - 1;
  const places = new Map<string, Place>();
  let kept = 0;
  const placeOf = (at: number[]): Place => {
    const key = at.join();
    const place = places.get(key) ?? { at, after: new Map() };
    places.set(key, place);
    return place;
  };
  const go = (from: readonly number[], code: number | undefined, edges: Edges): Place | true => {
    const reached = reach(steps, [...from, 0], edges);
    if (reached.has(match)) return true;
    const eating = code === undefined ? [] : [...reached].filter((at) => eats(steps[at], code));
    return placeOf(eating.map((at) => at + 1).sort((a, b) => a - b));
  };
  const goInside = (from: Place, code: number): Place | true => {
    const known = from.after.get(code);
    if (known) return known;
    if (++kept > maxKept) {
      for (const { after } of places.values()) after.clear();
      places.clear();
      kept = 0;
    }
    const to = go(from.at, code, { start: false, end: false });
    from.after.set(code, to);
    return to;
  };
  return (text) => {
    const codes = Array.from(text, codeOf);
    let place = go([], codes[0], { start: true, end: codes.length === 0 });
    for (const code of codes.slice(1)) {
      if (place === true) return true;
      place = goInside(place, code);
    }
    return place === true || go(place.at, undefined, { start: false, end: true }) === true;
  };
};
