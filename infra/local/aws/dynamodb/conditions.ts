import { type Attribute, compare, type Item, invalid, isEqual, isType, typeOf } from './attributes.ts';
import type { Parser, PathOperand, ValueOperand } from './parser.ts';
import { lookUp, pathText, resolved, type Scope, valueIn } from './scope.ts';

/** Condition, filter and key condition expressions (DynamoDB Developer Guide: condition and filter expressions). */

interface SizeOperand {
  kind: 'size';
  of: PathOperand | ValueOperand;
}
export type Operand = PathOperand | ValueOperand | SizeOperand;

const comparators = ['=', '<>', '<', '<=', '>', '>='] as const;
export type Comparator = (typeof comparators)[number];

export type Condition =
  | { op: 'AND' | 'OR'; parts: Condition[] }
  | { op: 'NOT'; part: Condition }
  | { op: 'compare'; comparator: Comparator; left: Operand; right: Operand }
  | { op: 'BETWEEN'; operand: Operand; low: Operand; high: Operand }
  | { op: 'IN'; operand: Operand; list: Operand[] }
  | { op: 'function'; name: string; operands: Operand[] };

const functions: Record<string, number> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
};

export const parseCondition = (parser: Parser): Condition => {
  const condition = disjunction(parser);
  parser.end();
  return condition;
};

const chain =
  (op: 'AND' | 'OR', read: (parser: Parser) => Condition) =>
  (parser: Parser): Condition => {
    const parts = [read(parser)];
    while (parser.takeIf(op)) parts.push(read(parser));
    return parts.length === 1 ? (parts[0] as Condition) : { op, parts };
  };

const negation = (parser: Parser): Condition =>
  parser.takeIf('NOT') ? { op: 'NOT', part: negation(parser) } : primary(parser);

const conjunction = chain('AND', negation);
const disjunction = chain('OR', conjunction);

const inParentheses = new WeakSet<Condition>();

const primary = (parser: Parser): Condition => {
  if (parser.takeIf('(')) {
    const part = disjunction(parser);
    parser.expect(')');
    if (inParentheses.has(part)) throw parser.error('The expression has redundant parentheses;');
    inParentheses.add(part);
    return part;
  }
  if (parser.isFunction && parser.peek() !== 'size') return call(parser);
  const left = operand(parser);
  if (parser.takeIf('BETWEEN')) {
    const low = operand(parser);
    parser.expect('AND');
    return { op: 'BETWEEN', operand: left, low, high: operand(parser) };
  }
  if (parser.takeIf('IN')) {
    parser.expect('(');
    const list = parser.list(() => operand(parser));
    parser.expect(')');
    if (list.length > 100) throw parser.error('The IN operator has more than 100 operands;');
    return { op: 'IN', operand: left, list };
  }
  const comparator = comparators.find((sign) => sign === parser.peek());
  if (!comparator) throw parser.unexpected();
  parser.take();
  return { op: 'compare', comparator, left, right: operand(parser) };
};

const call = (parser: Parser): Condition => {
  const name = parser.functionName();
  const operands = parser.list(() => operand(parser));
  parser.expect(')');
  const count = functions[name];
  if (count === undefined) throw parser.error(`Invalid function name; function: ${name}`);
  if (operands.length !== count)
    throw parser.error(
      `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${operands.length}`,
    );
  if (name.startsWith('attribute_') && name !== 'attribute_type' && operands[0]?.kind !== 'path')
    throw parser.error(`Operator or function requires a document path; operator or function: ${name}`);
  return { op: 'function', name, operands };
};

const operand = (parser: Parser): Operand => {
  if (!parser.isFunction) return parser.pathOrValue();
  const name = parser.functionName();
  if (name !== 'size')
    throw parser.error(
      functions[name] === undefined
        ? `Invalid function name; function: ${name}`
        : `The function is not allowed to be used this way in an expression; function: ${name}`,
    );
  const of = parser.pathOrValue();
  parser.expect(')');
  return { kind: 'size', of };
};

/**
 * DynamoDB's checks before it reads any item.
 * @throws AwsError
 */
export const checkOperands = (condition: Condition, scope: Scope, kind: string): void => {
  const refuse = (message: string) => invalid(`Invalid ${kind}: ${message}`);
  const immediate = (one: Operand | undefined) => (one?.kind === 'value' ? valueIn(one.name, scope) : undefined);
  const wrongType = (name: string, type: string) =>
    refuse(`Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`);
  switch (condition.op) {
    case 'AND':
    case 'OR':
      for (const part of condition.parts) checkOperands(part, scope, kind);
      return;
    case 'NOT':
      checkOperands(condition.part, scope, kind);
      return;
    case 'BETWEEN': {
      const [low, high] = [immediate(condition.low), immediate(condition.high)];
      if (!low || !high) return;
      const bounds = `lower bound operand: AttributeValue: ${shown(low)}, upper bound operand: AttributeValue: ${shown(high)}`;
      if (typeOf(low) !== typeOf(high))
        throw refuse(`The BETWEEN operator requires same data type for lower and upper bounds; ${bounds}`);
      if ((compare(low, high) ?? 0) > 0)
        throw refuse(`The BETWEEN operator requires upper bound to be greater than or equal to lower bound; ${bounds}`);
      return;
    }
    case 'compare':
      checkDistinct(condition.comparator, [condition.left, condition.right], scope, refuse);
      return;
    case 'function': {
      const { name, operands } = condition;
      checkDistinct(name, operands, scope, refuse);
      const values = operands.map(immediate);
      const odd = values.find((value) => value && value.S === undefined && value.B === undefined);
      if (name === 'begins_with' && odd) throw wrongType(name, typeOf(odd));
      if (name !== 'attribute_type') return;
      const [, type] = values;
      if (type?.S === undefined) throw wrongType(name, type ? typeOf(type) : '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}');
      if (!isType(type.S)) throw refuse(`Invalid attribute type name found; type: ${type.S}`);
    }
  }
};

const checkDistinct = (
  operator: string,
  [first, second]: Operand[],
  scope: Scope,
  refuse: (message: string) => Error,
): void => {
  if (first?.kind !== 'path' || second?.kind !== 'path') return;
  const [one, other] = [first, second].map(({ path }) => pathText(resolved(path, scope)));
  if (one === other)
    throw refuse(
      `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}, first operand: ${one}`,
    );
};

const shown = (value: Attribute): string => `{${typeOf(value)}:${value[typeOf(value)]}}`;

export const holds = (condition: Condition, item: Item, scope: Scope): boolean => {
  const value = (one: Operand) => operandIn(one, item, scope);
  switch (condition.op) {
    case 'AND':
      return condition.parts.every((part) => holds(part, item, scope));
    case 'OR':
      return condition.parts.some((part) => holds(part, item, scope));
    case 'NOT':
      return !holds(condition.part, item, scope);
    case 'compare':
      return compares(value(condition.left), condition.comparator, value(condition.right));
    case 'BETWEEN': {
      const one = value(condition.operand);
      return compares(one, '>=', value(condition.low)) && compares(one, '<=', value(condition.high));
    }
    case 'IN': {
      const one = value(condition.operand);
      return condition.list.some((member) => compares(one, '=', value(member)));
    }
    case 'function':
      return applies(condition.name, condition.operands.map(value));
  }
};

const operandIn = (operand: Operand, item: Item, scope: Scope): Attribute | undefined => {
  if (operand.kind === 'path') return lookUp(operand.path, item, scope);
  if (operand.kind === 'value') return valueIn(operand.name, scope);
  const length = sizeOf(operandIn(operand.of, item, scope));
  return length === undefined ? undefined : { N: String(length) };
};

const sizeOf = (value: Attribute | undefined): number | undefined => {
  if (value === undefined) return undefined;
  const content = value[typeOf(value)];
  if (value.B !== undefined) return Buffer.byteLength(content as string, 'base64');
  if (value.M !== undefined) return Object.keys(content as Item).length;
  if (value.S !== undefined) return (content as string).length;
  return Array.isArray(content) ? content.length : undefined;
};

export const compares = (
  left: Attribute | undefined,
  comparator: Comparator,
  right: Attribute | undefined,
): boolean => {
  if (comparator === '=') return left !== undefined && right !== undefined && isEqual(left, right);
  if (comparator === '<>') return left === undefined || right === undefined || !isEqual(left, right);
  const order = left && right && compare(left, right);
  if (order === undefined) return false;
  if (comparator === '<') return order < 0;
  if (comparator === '<=') return order <= 0;
  return comparator === '>' ? order > 0 : order >= 0;
};

const applies = (name: string, [first, second]: (Attribute | undefined)[]): boolean => {
  if (name === 'attribute_exists') return first !== undefined;
  if (name === 'attribute_not_exists') return first === undefined;
  if (first === undefined || second === undefined) return false;
  if (name === 'attribute_type') return typeOf(first) === second.S;
  return name === 'begins_with' ? beginsWith(first, second) : contains(first, second);
};

const latin = (encoded: unknown): string => Buffer.from(encoded as string, 'base64').toString('latin1');

const beginsWith = (value: Attribute, prefix: Attribute): boolean => {
  if (value.S !== undefined && prefix.S !== undefined) return (value.S as string).startsWith(prefix.S as string);
  return value.B !== undefined && prefix.B !== undefined && latin(value.B).startsWith(latin(prefix.B));
};

const contains = (value: Attribute, part: Attribute): boolean => {
  if (value.S !== undefined && part.S !== undefined) return (value.S as string).includes(part.S as string);
  if (value.B !== undefined && part.B !== undefined) return latin(value.B).includes(latin(part.B));
  if (value.L !== undefined) return (value.L as Attribute[]).some((member) => isEqual(member, part));
  const type = typeOf(part);
  const members = value[`${type}S` as 'SS'] as unknown[] | undefined;
  return members?.includes(part[type]) ?? false;
};
