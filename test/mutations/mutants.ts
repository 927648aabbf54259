import { parseAst } from 'vitest/node';

/** One change of a source file. */
export interface Mutant {
  start: number;
  end: number;
  /** The original text, and its replacement. */
  before: string;
  after: string;
  line: number;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const operators: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** Types are erased; the code inside them is not. */
const wrappers = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);
const isType = ({ type }: Node): boolean => type.startsWith('TS') && !wrappers.has(type);

const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flat()
    .filter((child) => isNode(child) && !isType(child)) as Node[];

type Change = [of: Node, after: string];

const nothing = 'undefined as never';
/** Replacing these with undefined has no effect, or none on code that only tests for truth. */
const isNothing = (text: string): boolean => ['undefined', 'false'].includes(text);

/** Logs are excluded, because no caller relies on them. */
const isLog = (text: string): boolean => /^(logError|logWarning|console\.)/.test(text);

const isCall = ({ type, argument }: Node): boolean =>
  type === 'CallExpression' || (type === 'AwaitExpression' && isNode(argument) && argument.type === 'CallExpression');

/** An operand whose meaning depends on the operator beside it. */
const isCompound = ({ type }: Node): boolean => /^(Binary|Logical|Conditional|Arrow|TSAs)/.test(type);

/** Changes that a test of the behaviour should notice. */
const changesOf = (node: Node, text: (of: Node) => string, isInFunction: boolean): Change[] => {
  const child = (name: string) => node[name] as Node;
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const after = operators[node.operator as string];
      // A test cannot detect a difference of one millisecond.
      const isOfClock = /^[<>]/.test(node.operator as string) && /\bnow\(\)/.test(text(node));
      // A node's text lacks the parentheses around it.
      const operand = (name: string) => (isCompound(child(name)) ? `(${text(child(name))})` : text(child(name)));
      return after && !isOfClock ? [[node, `(${operand('left')} ${after} ${operand('right')})`]] : [];
    }
    case 'UnaryExpression':
      return node.operator === '!' ? [[node, `(${text(child('argument'))})`]] : [];
    case 'IfStatement':
    case 'ConditionalExpression':
      return [
        [child('test'), 'true'],
        [child('test'), 'false'],
      ];
    case 'Literal':
      if (typeof node.value === 'boolean') return [[node, String(!node.value)]];
      // A module's constant is a setting: a test of it would only repeat it.
      if (typeof node.value !== 'number' || !isInFunction) return [];
      // Adding one to a large number has no visible effect.
      return [[node, String(node.value < 1000 ? node.value + 1 : node.value * 10)]];
    case 'ExpressionStatement':
      return isCall(child('expression')) ? [[node, ';']] : [];
    case 'ReturnStatement':
      return node.argument && !isNothing(text(child('argument'))) ? [[child('argument'), nothing]] : [];
    case 'ArrowFunctionExpression':
      return child('body').type === 'BlockStatement' || isNothing(text(child('body'))) || isLog(text(child('body')))
        ? []
        : [[child('body'), nothing]];
    default:
      return [];
  }
};

/** `a < b ? -1 : 1`: only the signs of an order count. */
const isOrder = ({ type, consequent, alternate }: Node, text: (of: Node) => string): boolean =>
  type === 'ConditionalExpression' && [consequent, alternate].every((one) => /^-?1$/.test(text(one as Node)));

/** All syntactically valid changes of a file. */
export const mutantsOf = (source: string): Mutant[] => {
  const mutants: Mutant[] = [];
  const text = ({ start, end }: Node): string => source.slice(start, end);
  const visit = (node: Node, isInFunction: boolean): void => {
    if (node.type === 'ImportDeclaration' || isLog(text(node))) return;
    for (const [{ start, end }, after] of changesOf(node, text, isInFunction)) {
      const line = source.slice(0, start).split('\n').length;
      mutants.push({ start, end, before: source.slice(start, end), after, line });
    }
    const isFunction = /Function(Expression|Declaration)$/.test(node.type);
    const inner = isOrder(node, text) ? [node.test as Node] : childrenOf(node);
    for (const child of inner) visit(child, isInFunction || isFunction);
  };
  visit(parse(source), false);
  return mutants.filter((mutant) => isWellFormed(apply(source, mutant)));
};

const parse = (source: string): Node => parseAst(source, { lang: 'ts' }) as unknown as Node;

const isWellFormed = (source: string): boolean => {
  try {
    parse(source);
    return true;
  } catch {
    return false;
  }
};

export const apply = (source: string, { start, end, after }: Pick<Mutant, 'start' | 'end' | 'after'>): string =>
  source.slice(0, start) + after + source.slice(end);

/**
 * Source that records which mutants' places are executed: it adds the number of each to a set (covered.ts). A place
 * that cannot be marked, such as a key, counts as executed with the file.
 * @param numbers by mutant
 */
export const marked = (source: string, numbers: Map<Mutant, number>): string => {
  const places = new Map<string, { start: number; end: number; isStatement: boolean; numbers: number[] }>();
  for (const [{ start, end, after }, number] of numbers) {
    const key = `${start}-${end}`;
    const place = places.get(key) ?? { start, end, isStatement: after === ';', numbers: [] };
    place.numbers.push(number);
    places.set(key, place);
  }
  const note = (list: number[]) => `globalThis.__vitest_executed?.add(${list.join(').add(')})`;
  const opened = new Map<number, string>();
  const closed = new Map<number, string>();
  let ofFile = '';
  // Of two places with the same start the outer comes first, of two with the same end the inner.
  for (const place of [...places.values()].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const { start, end } = place;
    const [before, after] = place.isStatement ? [`{${note(place.numbers)};`, '}'] : [`(${note(place.numbers)},(`, '))'];
    if (isWellFormed(apply(source, { start, end, after: before + source.slice(start, end) + after }))) {
      opened.set(start, (opened.get(start) ?? '') + before);
      closed.set(end, after + (closed.get(end) ?? ''));
    } else ofFile += `;${note(place.numbers)};`;
  }
  let text = '';
  let from = 0;
  for (const at of [...new Set([...opened.keys(), ...closed.keys()])].sort((a, b) => a - b)) {
    text += source.slice(from, at) + (closed.get(at) ?? '') + (opened.get(at) ?? '');
    from = at;
  }
  return `${text}${source.slice(from)}\n${ofFile}`;
};
