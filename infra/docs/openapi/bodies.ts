import type { CallExpression, Node } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isIdentifier,
  isObjectLiteralExpression,
  isPropertyAssignment,
} from 'typescript/unstable/ast/is';
import type { Checker, Project, Type } from 'typescript/unstable/sync';
import { declarationOf, initializerOf, nameOf, visit } from './syntax.ts';
import { type Schema, schemaOf } from './types.ts';

/** Bodies that routes read. */

export interface Body {
  attributes?: Schema;
  relationships?: Schema;
  /** Of a body that is not a resource. */
  whole?: Schema;
}

/** What a client may send for a schema of valibot. */
const inputOf = (checker: Checker, type: Type | undefined): Type | undefined => {
  const property = type && checker.getPropertyOfType(type, '~types');
  const types = property && checker.getTypeOfSymbol(property);
  const known = types && checker.getNonNullableType(types);
  const input = known && checker.getPropertyOfType(known, 'input');
  return input && checker.getTypeOfSymbol(input);
};

const mayBeAbsent = (checker: Checker, type: Type): boolean => {
  const property = checker.getPropertyOfType(type, 'type');
  const kind = property && checker.getTypeOfSymbol(property);
  return Boolean(kind?.isStringLiteralType() && /optional|nullish|undefinedable/.test(kind.value));
};

/** Schemas by name, as valibot's objects have them. */
const entriesOf = (checker: Checker, type: Type | undefined): Schema | undefined => {
  if (!type) return undefined;
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const property of checker.getPropertiesOfType(type)) {
    const entry = checker.getTypeOfSymbol(property);
    const input = inputOf(checker, entry);
    properties[property.name] = input ? schemaOf(checker, input) : {};
    if (entry && !mayBeAbsent(checker, entry)) required.push(property.name);
  }
  if (!Object.keys(properties).length) return undefined;
  return { type: 'object', properties, ...(required.length ? { required } : {}) };
};

/** The object that a literal or a constant is. */
const literalOf = (project: Project, node: Node | undefined) => {
  const value = node && isIdentifier(node) ? initializerOf(project, node) : node;
  return value && isObjectLiteralExpression(value) ? value : undefined;
};

/** Names of settings of HCP Terraform that are refused (api/known-attributes.ts). */
const refusedBy = (project: Project, otherFields: Node | undefined): string[] => {
  const lacking = literalOf(project, otherFields)?.properties.find((property) => nameOf(property) === 'lacking');
  const names = lacking && isPropertyAssignment(lacking) ? literalOf(project, lacking.initializer) : undefined;
  return (names?.properties ?? []).flatMap((property) => nameOf(property) ?? []);
};

const bodyOf = (project: Project, call: CallExpression, reader: string): Body => {
  const { checker } = project;
  const [, first, second, third] = call.arguments;
  const typeAt = (node: Node | undefined) => (node ? checker.getTypeAtLocation(node) : undefined);
  if (reader === 'readWhole') {
    const input = inputOf(checker, typeAt(first));
    return input ? { whole: schemaOf(checker, input) } : {};
  }
  const refused = refusedBy(project, third);
  const attributes = entriesOf(checker, typeAt(first));
  const relationships = entriesOf(checker, typeAt(second));
  return {
    ...(attributes ? { attributes: { ...attributes, ...(refused.length ? { 'x-refused': refused } : {}) } } : {}),
    ...(relationships ? { relationships } : {}),
  };
};

const maxDepth = 6;

/** Bodies that a handler reads: in itself, in functions of its folder, and in those whose names begin with `read`. */
export class Readers {
  readonly #project: Project;
  readonly #known = new Map<Node, Body[]>();

  constructor(project: Project) {
    this.#project = project;
  }

  /** @param folder of the routes */
  of(node: Node, folder: string, depth = 0): Body[] {
    const known = this.#known.get(node);
    if (known) return known;
    const bodies: Body[] = [];
    this.#known.set(node, bodies);
    const names: Node[] = [];
    visit(node, (inner) => {
      if (isIdentifier(inner)) names.push(inner);
      if (!isCallExpression(inner) || !isIdentifier(inner.expression)) return;
      const { text } = inner.expression;
      if (text === 'readData' || text === 'readWhole') bodies.push(bodyOf(this.#project, inner, text));
    });
    if (depth < maxDepth)
      for (const name of names) {
        const declaration = declarationOf(this.#project, name) as (Node & { initializer?: Node }) | undefined;
        const inner = declaration?.initializer;
        if (!inner || inner === node) continue;
        const isNear = declaration.getSourceFile().fileName.startsWith(`${folder}/`);
        if (isNear || /^read[A-Z]/.test((name as { text?: string }).text ?? ''))
          bodies.push(...this.of(inner, folder, depth + 1));
      }
    const distinct = new Map(bodies.map((body) => [JSON.stringify(body), body]));
    return [...distinct.values()].filter((body) => Object.keys(body).length);
  }
}
