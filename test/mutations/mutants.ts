import { parseAst } from 'vitest/node';

/** One change of a source file. */
export interface Mutant {
  start: number;
  end: number;
  /** What is there, and what replaces it. */
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

/** Types are erased; what they wrap is code. */
const wrappers = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);
const isType = ({ type }: Node): boolean => type.startsWith('TS') && !wrappers.has(type);

const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flat()
    .filter((child) => isNode(child) && !isType(child)) as Node[];

type Change = [of: Node, after: string];

const nothing = 'undefined as never';

const isCall = ({ type, argument }: Node): boolean =>
  type === 'CallExpression' || (type === 'AwaitExpression' && isNode(argument) && argument.type === 'CallExpression');

/** Changes that a test of the behaviour should notice. */
const changesOf = (node: Node, text: (of: Node) => string): Change[] => {
  const child = (name: string) => node[name] as Node;
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const after = operators[node.operator as string];
      return after ? [[node, `(${text(child('left'))} ${after} ${text(child('right'))})`]] : [];
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
      return typeof node.value === 'number' ? [[node, String(node.value + 1)]] : [];
    case 'ExpressionStatement':
      return isCall(child('expression')) ? [[node, ';']] : [];
    case 'ReturnStatement':
      return node.argument ? [[child('argument'), nothing]] : [];
    case 'ArrowFunctionExpression':
      return child('body').type === 'BlockStatement' ? [] : [[child('body'), nothing]];
    default:
      return [];
  }
};

/** All changes of a file that leave it well formed. Logs are no behaviour that others rely on. */
export const mutantsOf = (source: string): Mutant[] => {
  const mutants: Mutant[] = [];
  const text = ({ start, end }: Node): string => source.slice(start, end);
  const visit = (node: Node): void => {
    if (node.type === 'ImportDeclaration' || /^(logError|logWarning|console\.)/.test(text(node))) return;
    for (const [{ start, end }, after] of changesOf(node, text)) {
      const line = source.slice(0, start).split('\n').length;
      mutants.push({ start, end, before: source.slice(start, end), after, line });
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(parse(source));
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

export const apply = (source: string, { start, end, after }: Mutant): string =>
  source.slice(0, start) + after + source.slice(end);
