import { type Attribute, attributeOf, define, type Item, invalid, readAttribute } from './attributes.ts';
import { type Condition, checkOperands, holds, parseCondition } from './conditions.ts';
import { Parser } from './parser.ts';
import { resolved, type Scope } from './scope.ts';
import { type Action, applyUpdate, checkActions, parseUpdate } from './updates.ts';

/** The expressions of one request; parsed expressions are cached by their text. */

interface Read<T> {
  tree: T;
  names: ReadonlySet<string>;
  values: ReadonlySet<string>;
}

const maxRead = 2000;

const reading = <T>(parse: (parser: Parser) => T) => {
  const before = new Map<string, Read<T>>();
  return (text: string, kind: string): Read<T> => {
    const key = `${kind} ${text}`;
    const same = before.get(key);
    if (same) return same;
    const parser = new Parser(text, kind);
    const tree = parse(parser);
    if (before.size >= maxRead) before.clear();
    const { names, values } = parser;
    before.set(key, { tree, names, values });
    return { tree, names, values };
  };
};

const readCondition = reading(parseCondition);
const readUpdate = reading(parseUpdate);

const conditionKinds = ['ConditionExpression', 'KeyConditionExpression', 'FilterExpression'] as const;
type ConditionKind = (typeof conditionKinds)[number];

const recordOf = (value: unknown, kind: string, pattern: RegExp): Record<string, unknown> => {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(`${kind} must be a map`);
  const names = Object.keys(value);
  if (names.length === 0) throw invalid(`${kind} must not be empty`);
  for (const name of names)
    if (!pattern.test(name)) throw invalid(`${kind} contains invalid key: Syntax error; key: "${name}"`);
  return value as Record<string, unknown>;
};

const text = (value: unknown, kind: string): string => {
  if (typeof value !== 'string') throw invalid(`${kind} must be a string`);
  return value;
};

export interface Input {
  [parameter: string]: unknown;
}

export class Expressions {
  readonly scope: Scope;
  readonly #conditions = new Map<ConditionKind, Condition>();
  readonly #actions: Action[];
  readonly #unusedNames: Set<string>;
  readonly #unusedValues: Set<string>;

  /** @throws AwsError ValidationException */
  constructor(input: Input) {
    const names = recordOf(input.ExpressionAttributeNames, 'ExpressionAttributeNames', /^#\w+$/);
    const values = recordOf(input.ExpressionAttributeValues, 'ExpressionAttributeValues', /^:\w+$/);
    this.scope = {
      names: Object.fromEntries(
        Object.entries(names).map(([name, value]) => [name, text(value, 'ExpressionAttributeNames')]),
      ),
      values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, valueFor(name, value)])),
    };
    this.#unusedNames = new Set(Object.keys(names));
    this.#unusedValues = new Set(Object.keys(values));
    this.#actions = this.#update(input.UpdateExpression);
    for (const kind of conditionKinds) this.#condition(kind, input[kind]);
    this.#checkUnused('ExpressionAttributeNames', this.#unusedNames);
    this.#checkUnused('ExpressionAttributeValues', this.#unusedValues);
  }

  condition(kind: ConditionKind): Condition | undefined {
    return this.#conditions.get(kind);
  }

  holds(kind: ConditionKind, item: Item): boolean {
    const condition = this.#conditions.get(kind);
    return condition === undefined || holds(condition, item, this.scope);
  }

  /** Attributes that the update changes, completely or in part. */
  get changedAttributes(): string[] {
    return this.#actions.map(({ path: [first = ''] }) => this.scope.names[first] ?? String(first));
  }

  /** A copy that shares nothing with the item that the update changes. */
  copyForUpdate(item: Item): Item {
    const copy = { ...item };
    for (const { path } of this.#actions) {
      if (path.length === 1) continue;
      const name = String(resolved(path.slice(0, 1), this.scope)[0]);
      const value = attributeOf(item, name);
      if (value && attributeOf(copy, name) === value) define(copy, name, structuredClone(value));
    }
    return copy;
  }

  applyUpdate(item: Item): void {
    applyUpdate(this.#actions, item, this.scope);
  }

  #update(expression: unknown): Action[] {
    if (expression === undefined || expression === null) return [];
    const read = readUpdate(text(expression, 'UpdateExpression'), 'UpdateExpression');
    this.#use(read, 'UpdateExpression');
    checkActions(read.tree, this.scope);
    return read.tree;
  }

  #condition(kind: ConditionKind, expression: unknown): void {
    if (expression === undefined || expression === null) return;
    const read = readCondition(text(expression, kind), kind);
    this.#use(read, kind);
    checkOperands(read.tree, this.scope, kind);
    this.#conditions.set(kind, read.tree);
  }

  #use({ names, values }: Read<unknown>, kind: string): void {
    for (const name of names) {
      if (!Object.hasOwn(this.scope.names, name))
        throw invalid(
          `Invalid ${kind}: An expression attribute name used in the document path is not defined; attribute name: ${name}`,
        );
      this.#unusedNames.delete(name);
    }
    for (const name of values) {
      if (attributeOf(this.scope.values, name) === undefined)
        throw invalid(
          `Invalid ${kind}: An expression attribute value used in expression is not defined; attribute value: ${name}`,
        );
      this.#unusedValues.delete(name);
    }
  }

  #checkUnused(kind: string, unused: Set<string>): void {
    if (unused.size)
      throw invalid(`Value provided in ${kind} unused in expressions: keys: {${[...unused].join(', ')}}`);
  }
}

const valueFor = (name: string, value: unknown): Attribute => {
  try {
    return readAttribute(value);
  } catch (error) {
    throw invalid(`ExpressionAttributeValues contains invalid value: ${(error as Error).message} for key ${name}`);
  }
};
