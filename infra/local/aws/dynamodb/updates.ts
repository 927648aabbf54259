import { type Attribute, attributeOf, define, type Item, invalid, type Type, typeOf } from './attributes.ts';
import { add } from './numbers.ts';
import type { Parser, Path, PathOperand, ValueOperand } from './parser.ts';
import { lookUp, pathText, resolved, type Scope, valueIn } from './scope.ts';

/** Update expressions (DynamoDB Developer Guide: update expressions). */

type Term =
  | PathOperand
  | ValueOperand
  | { kind: 'if_not_exists'; path: PathOperand; otherwise: Term }
  | { kind: 'list_append'; terms: [Term, Term] }
  | { kind: 'sum'; sign: 1n | -1n; terms: [Term, Term] };

export type Action =
  | { do: 'SET'; path: Path; term: Term }
  | { do: 'REMOVE'; path: Path }
  | { do: 'ADD' | 'DELETE'; path: Path; value: ValueOperand };

const clauses = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const;

export const parseUpdate = (parser: Parser): Action[] => {
  const actions: Action[] = [];
  const seen = new Set<string>();
  do {
    const clause = clauses.find((name) => parser.takeIf(name));
    if (!clause) throw parser.unexpected();
    if (seen.has(clause)) throw parser.error(`The "${clause}" section can only be used once in an update expression;`);
    seen.add(clause);
    actions.push(...parser.list(() => action(parser, clause)));
  } while (!parser.isAtEnd);
  return actions;
};

const action = (parser: Parser, clause: Action['do']): Action => {
  const { path } = parser.path();
  if (clause === 'REMOVE') return { do: clause, path };
  if (clause !== 'SET') return { do: clause, path, value: parser.value() };
  parser.expect('=');
  const first = term(parser);
  const sign = parser.takeIf('+') ? 1n : parser.takeIf('-') ? -1n : undefined;
  if (sign === undefined) return { do: clause, path, term: first };
  return { do: clause, path, term: { kind: 'sum', sign, terms: [first, term(parser)] } };
};

const term = (parser: Parser): Term => {
  if (!parser.isFunction) return parser.pathOrValue();
  const name = parser.functionName();
  if (name !== 'if_not_exists' && name !== 'list_append')
    throw parser.error(`Invalid function name; function: ${name}`);
  const first = term(parser);
  parser.expect(',');
  const second = term(parser);
  parser.expect(')');
  if (name === 'list_append') return { kind: name, terms: [first, second] };
  if (first.kind !== 'path')
    throw parser.error(`Operator or function requires a document path; operator or function: ${name}`);
  return { kind: name, path: first, otherwise: second };
};

const names: Record<string, string> = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  NULL: 'NULL',
  BOOL: 'BOOLEAN',
  L: 'LIST',
  M: 'MAP',
};

/**
 * DynamoDB's checks before it reads the item.
 * @throws AwsError
 */
export const checkActions = (actions: Action[], scope: Scope): void => {
  const refuse = (message: string) => invalid(`Invalid UpdateExpression: ${message}`);
  const paths = actions.map(({ path }) => resolved(path, scope));
  for (const [i, one] of paths.entries())
    for (const other of paths.slice(0, i)) {
      const shorter = Math.min(one.length, other.length);
      const same = one.slice(0, shorter).every((part, n) => part === other[n]);
      if (same)
        throw refuse(
          `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${pathText(other)}, path two: ${pathText(one)}`,
        );
    }
  for (const one of actions) {
    if (one.do !== 'ADD' && one.do !== 'DELETE') continue;
    const type = typeOf(valueIn(one.value.name, scope));
    if (names[type] && !(one.do === 'ADD' && type === 'N'))
      throw refuse(
        `Incorrect operand type for operator or function; operator: ${one.do}, operand type: ${names[type]}`,
      );
  }
};

const wrongType = () => invalid('An operand in the update expression has an incorrect data type');

/**
 * Changes the item, which must not be shared.
 * @throws AwsError
 */
export const applyUpdate = (actions: Action[], item: Item, scope: Scope): void => {
  // All values come from the item before the update.
  const values = actions.map((one) => (one.do === 'SET' ? ownValue(one.term, item, scope) : undefined));
  const removals: { list: Attribute[]; index: number }[] = [];
  for (const [i, one] of actions.entries()) {
    const place = placeOf(one.path, item, scope);
    if (one.do === 'SET') place.set(values[i] as Attribute);
    else if (one.do === 'REMOVE') place.remove(removals);
    else change(one.do, place, valueIn(one.value.name, scope));
  }
  // Indexes refer to the list before any removal.
  removals.sort((a, b) => b.index - a.index);
  for (const { list, index } of removals) list.splice(index, 1);
};

/** Values are copied if the update may change them elsewhere. */
const ownValue = (one: Term, item: Item, scope: Scope): Attribute => {
  const value = evaluate(one, item, scope);
  return one.kind === 'value' ? value : structuredClone(value);
};

const evaluate = (one: Term, item: Item, scope: Scope): Attribute => {
  switch (one.kind) {
    case 'value':
      return valueIn(one.name, scope);
    case 'path': {
      const value = lookUp(one.path, item, scope);
      if (!value) throw invalid('The provided expression refers to an attribute that does not exist in the item');
      return value;
    }
    case 'if_not_exists':
      return lookUp(one.path.path, item, scope) ?? evaluate(one.otherwise, item, scope);
    case 'list_append': {
      const lists = one.terms.map((part) => evaluate(part, item, scope).L as Attribute[] | undefined);
      if (lists.includes(undefined)) throw wrongType();
      return { L: (lists as Attribute[][]).flat() };
    }
    case 'sum': {
      const [a, b] = one.terms.map((part) => evaluate(part, item, scope).N as string | undefined);
      if (a === undefined || b === undefined) throw wrongType();
      return { N: sum(a, b, one.sign) };
    }
  }
};

const sum = (a: string, b: string, sign: 1n | -1n = 1n): string => {
  try {
    return add(a, b, sign);
  } catch (error) {
    throw invalid((error as Error).message);
  }
};

interface Place {
  value: Attribute | undefined;
  set(value: Attribute): void;
  remove(later: { list: Attribute[]; index: number }[]): void;
}

const placeOf = (path: Path, item: Item, scope: Scope): Place => {
  const last = resolved(path.slice(-1), scope)[0] as string | number;
  const parent = path.length === 1 ? { M: item } : lookUp(path.slice(0, -1), item, scope);
  if (typeof last === 'number' && parent?.L !== undefined) {
    const list = parent.L as Attribute[];
    return {
      value: list[last],
      set: (value) => {
        list[Math.min(last, list.length)] = value;
      },
      remove: (later) => {
        if (last < list.length) later.push({ list, index: last });
      },
    };
  }
  if (typeof last === 'number' || parent?.M === undefined)
    throw invalid('The document path provided in the update expression is invalid for update');
  const map = parent.M as Item;
  return {
    value: attributeOf(map, last),
    set: (value) => define(map, last, value),
    remove: () => {
      delete map[last];
    },
  };
};

const change = (action: 'ADD' | 'DELETE', place: Place, operand: Attribute): void => {
  const type = typeOf(operand);
  if (place.value !== undefined && typeOf(place.value) !== type) throw wrongType();
  if (type === 'N') place.set({ N: sum((place.value?.N as string | undefined) ?? '0', operand.N as string) });
  else changeSet(action, place, type, operand[type] as string[]);
};

const changeSet = (action: 'ADD' | 'DELETE', place: Place, type: Type, members: string[]): void => {
  const before = (place.value?.[type] ?? []) as string[];
  const after =
    action === 'ADD' ? [...new Set([...before, ...members])] : before.filter((one) => !members.includes(one));
  if (after.length) place.set({ [type]: after });
  else place.remove([]);
};
