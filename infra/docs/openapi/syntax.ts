import { relative } from 'node:path';
import type { Node } from 'typescript/unstable/ast';
import {
  isArrayBindingPattern,
  isArrayLiteralExpression,
  isAsExpression,
  isAwaitExpression,
  isBindingElement,
  isCallExpression,
  isIdentifier,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
} from 'typescript/unstable/ast/is';
import { type Checker, type Project, type Symbol as SourceSymbol, SymbolFlags } from 'typescript/unstable/sync';
import { root } from '#platform/program.ts';

/** Reading the source's syntax. */

export const visit = (node: Node, see: (node: Node) => void): void => {
  see(node);
  node.forEachChild((child) => visit(child, see));
};

/** Files of functions with code of the API. */
export const filesOf = ({ program }: Project) =>
  program
    .getSourceFileNames()
    .filter((name) => /^functions\/(?!clients|runner\/program|environments)/.test(relative(root, name)))
    .flatMap((name) => program.getSourceFile(name) ?? []);

export const textOf = (node: Node | undefined): string | undefined =>
  node && (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) ? node.text : undefined;

const aliased = (checker: Checker, symbol: SourceSymbol): SourceSymbol =>
  symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

/** In place of a value that is not a constant. */
export const unknownPart = '\0';

/** Arguments of a function by the names of its parameters. */
export type Bindings = ReadonlyMap<string, Node>;
export const none: Bindings = new Map();

/** The text of a literal, with the values of constants in it. */
export const constant = (project: Project, node: Node | undefined, bindings = none): string => {
  const text = textOf(node);
  if (text !== undefined) return text;
  if (node && isAsExpression(node)) return constant(project, node.expression, bindings);
  if (node && isIdentifier(node)) {
    const value = bindings.get(node.text) ?? initializerOf(project, node);
    return value ? constant(project, value) : unknownPart;
  }
  if (!node || !isTemplateExpression(node)) return unknownPart;
  const spans = node.templateSpans.map(
    ({ expression, literal }) => constant(project, expression, bindings) + literal.text,
  );
  return node.head.text + spans.join('');
};

/** Each answer of the compiler takes longer than all else here. */
const declarations = new WeakMap<Node, Node | undefined>();

export const declarationOf = ({ checker }: Project, node: Node): Node | undefined => {
  if (!declarations.has(node)) {
    const symbol = checker.getSymbolAtLocation(node);
    declarations.set(node, symbol && aliased(checker, symbol).valueDeclaration?.resolve());
  }
  return declarations.get(node);
};

export const initializerOf = (project: Project, node: Node): Node | undefined =>
  (declarationOf(project, node) as { initializer?: Node } | undefined)?.initializer;

/** `[a, b] = await Promise.all([first, second])`: the second for b. */
const elementOf = (value: Node | undefined, at: number): Node | undefined => {
  if (value && isAwaitExpression(value)) return elementOf(value.expression, at);
  const [all] = value && isCallExpression(value) ? value.arguments : [];
  return all && isArrayLiteralExpression(all) ? all.elements[at] : value;
};

/** The value of what a declaration names, also by a pattern. */
export const initialValueOf = (declaration: Node): Node | undefined => {
  if (!isBindingElement(declaration)) return (declaration as { initializer?: Node }).initializer;
  const pattern = declaration.parent;
  const { initializer } = pattern.parent as { initializer?: Node };
  return isArrayBindingPattern(pattern) ? elementOf(initializer, pattern.elements.indexOf(declaration)) : initializer;
};

export const folderOf = (node: Node): string => node.getSourceFile().fileName.replace(/\/[^/]+$/, '');

export const nameOf = (node: Node): string | undefined => (node as { name?: { text?: string } }).name?.text;

/** Values of an expression whose type in the source is one string, or one of several. */
const stringsOf = ({ checker }: Project, node: Node): string[] => {
  const text = textOf(node);
  if (text !== undefined) return [text];
  const type = checker.getTypeAtLocation(node);
  const members = type?.isUnionType() ? type.getTypes() : [type];
  const values = members.flatMap((member) => (member?.isStringLiteralType() ? member.value : []));
  return values.length === members.length ? values : [];
};

/** The types and the attributes of a document, which is an object with a known `type` and `attributes`. */
export const documentIn = (project: Project, node: Node): { types: string[]; attributes: Node } | undefined => {
  if (!isObjectLiteralExpression(node)) return undefined;
  const member = (name: string) => node.properties.find((property) => nameOf(property) === name);
  const [type, attributes] = [member('type'), member('attributes')];
  if (!type || !isPropertyAssignment(type) || !attributes) return undefined;
  const types = stringsOf(project, type.initializer);
  return types.length ? { types, attributes } : undefined;
};
