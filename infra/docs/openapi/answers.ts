import { relative } from 'node:path';
import type { CallExpression, Node } from 'typescript/unstable/ast';
import {
  isArrayLiteralExpression,
  isCallExpression,
  isIdentifier,
  isNumericLiteral,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isShorthandPropertyAssignment,
} from 'typescript/unstable/ast/is';
import type { Project } from 'typescript/unstable/sync';
import { root } from '#platform/program.ts';
import { constant, declarationOf, documentIn, folderOf, initialValueOf, nameOf, visit } from './syntax.ts';
import { type Schema, schemaOf } from './types.ts';

/** The successful answers of routes: the functions of functions/api that a handler leads to. */

export interface Success {
  status: number;
  kind: 'one' | 'list' | 'empty' | 'text' | 'json' | 'unknown';
  /** Types of the resources in it. */
  types: string[];
  mediaType: string;
  /** Of JSON that is no document of resources. */
  schema?: Schema;
}

export const jsonApi = 'application/vnd.api+json';

interface Maker {
  status?: number;
  kind: Success['kind'];
  /** Position of the documents among the arguments, or of the function that writes each. */
  data?: number;
  mediaType?: string;
}

/** Without a status: it is the first argument. */
const makers: Record<string, Maker> = {
  ok: { status: 200, kind: 'one', data: 0 },
  created: { status: 201, kind: 'one', data: 0 },
  accepted: { status: 202, kind: 'empty' },
  noContent: { status: 204, kind: 'empty' },
  done: { status: 200, kind: 'empty' },
  redirect: { kind: 'empty' },
  plainText: { status: 200, kind: 'text', mediaType: 'text/plain' },
  page: { kind: 'text', mediaType: 'text/html' },
  json: { kind: 'json' },
  list: { status: 200, kind: 'list', data: 3 },
  registryList: { status: 200, kind: 'list', data: 3 },
  listWithoutTotal: { status: 200, kind: 'list', data: 3 },
  wholeList: { status: 200, kind: 'list', data: 1 },
  pageFrom: { status: 200, kind: 'list', data: 2 },
  pageWith: { status: 200, kind: 'list', data: 2 },
};

/** A list that is always empty. */
const nothing: Schema = { type: 'object', properties: { data: { type: 'array', maxItems: 0 } }, required: ['data'] };

const maxDepth = 8;

const isSuccess = (status: number): boolean => status >= 200 && status < 400;

const numberOf = (node: Node | undefined): number => (node && isNumericLiteral(node) ? Number(node.text) : 0);

/** The status of an answer that a handler writes itself. */
const statusIn = (node: Node): number =>
  isPropertyAssignment(node) && nameOf(node) === 'statusCode' ? numberOf(node.initializer) : 0;

const memberOf = (node: Node | undefined, name: string): Node | undefined =>
  node && isObjectLiteralExpression(node) ? node.properties.find((property) => nameOf(property) === name) : undefined;

const isMaker = (file: string): boolean => /^functions\/api\/(answer|page|pagination)\.ts$/.test(file);

/** The last part of a path that names resources: `projects` of `/projects/{project}/actions/move`. */
const lastName = (path: string): string | undefined =>
  path
    .replace(/\/actions\/.*$/, '')
    .split('/')
    .findLast((part) => part && !part.startsWith('{'));

/** What a function returns, as its declaration names it. */
const isAnswering = (node: Node): boolean =>
  /\bAnswer\b/.test(node.getSourceFile().text.slice(node.pos, node.end).split('=>').slice(0, 3).join(''));

/** Documents have the type that the path names: the other types are of related resources. */
const typesAt = (path: string, found: ReadonlySet<string>, known: ReadonlySet<string>): string[] => {
  const name = lastName(path);
  if (name !== undefined && (found.size ? found : known).has(name)) return [name];
  return [...found].sort();
};

export class Answers {
  readonly #project: Project;
  readonly #answers = new Map<Node, Success[]>();
  readonly #types = new Map<Node, Set<string>>();

  constructor(project: Project) {
    this.#project = project;
  }

  /**
   * @param path tells the type of the documents from those that they are related to
   * @param known types of resources
   * @returns one for each status and media type; none if the source does not show them, as for a handler that is passed to the routes
   */
  of(handler: Node, path: string, known: ReadonlySet<string>): Success[] {
    const found = this.#in(handler, folderOf(handler), 0);
    // An answer without content is one of the others' media type.
    const typeOf = new Map(
      found.flatMap(({ kind, status, mediaType }) => (kind === 'empty' ? [] : [[status, mediaType]])),
    );
    const groups = Map.groupBy(
      found,
      ({ kind, status, mediaType }) => `${status} ${kind === 'empty' ? (typeOf.get(status) ?? mediaType) : mediaType}`,
    );
    return [...groups.values()].map((all) => {
      const [{ status, mediaType }] = all as [Success];
      const isList = all.some(({ kind }) => kind === 'list');
      // JSON of any type, or an empty list, says nothing beside an answer that is known.
      const says = (schema: Schema = {}) => (schema === nothing ? !isList : Object.keys(schema).length > 0);
      const told = all.filter(({ kind, schema }) => kind !== 'json' || says(schema));
      const content = told.filter(({ kind }) => kind !== 'empty');
      const [first = told[0] ?? all[0], ...others] = content;
      const types = typesAt(path, new Set(content.flatMap((answer) => answer.types)), known);
      const isUntyped = (first?.kind === 'one' || first?.kind === 'list') && !types.length;
      if (
        !first ||
        isUntyped ||
        others.some(({ kind }) => kind !== first.kind) ||
        (first.kind === 'json' && !told.length)
      )
        return { status, kind: 'unknown', types: [], mediaType };
      return { ...first, types };
    });
  }

  #in(node: Node, folder: string, depth: number): Success[] {
    const known = this.#answers.get(node);
    if (known) return known;
    const found: Success[] = [];
    this.#answers.set(node, found);
    const names: Node[] = [];
    visit(node, (inner) => {
      if (isIdentifier(inner)) names.push(inner);
      if (isCallExpression(inner) && isIdentifier(inner.expression)) found.push(...this.#made(inner));
      const status = statusIn(inner);
      if (isSuccess(status)) found.push(this.#written(inner.parent, status));
    });
    if (depth >= maxDepth) return found;
    for (const name of names) {
      const [inner, at] = this.#initializer(name);
      if (!inner || inner === node || isMaker(at)) continue;
      if (`${root}/${at}`.startsWith(`${folder}/`) || isAnswering(inner))
        found.push(...this.#in(inner, folder, depth + 1));
    }
    return found;
  }

  #made(call: CallExpression): Success[] {
    const declaration = declarationOf(this.#project, call.expression);
    const maker = makers[(declaration && nameOf(declaration)) ?? ''];
    const [, at] = this.#initializer(call.expression);
    if (!maker || !isMaker(at)) return [];
    const [first, body, type] = call.arguments;
    const status = maker.status ?? numberOf(first);
    if (!isSuccess(status)) return [];
    const data = maker.kind === 'json' ? this.#dataOf(body) : call.arguments[maker.data ?? -1];
    if (maker.kind === 'list' && data && isArrayLiteralExpression(data) && !data.elements.length)
      return [{ status, kind: 'json', types: [], mediaType: jsonApi, schema: nothing }];
    const named = data ? [...this.#typesIn(data, 0)] : [];
    // A list of documents that were written before.
    const types =
      maker.kind === 'list' && !named.length ? call.arguments.flatMap((one) => [...this.#typesIn(one, 0)]) : named;
    const mediaType = maker.mediaType ?? (maker.kind === 'json' && type ? constant(this.#project, type) : jsonApi);
    if (maker.kind === 'json' && types.length === 0) {
      const whole = body && this.#project.checker.getTypeAtLocation(body);
      return [{ status, kind: 'json', types, mediaType, schema: whole ? schemaOf(this.#project.checker, whole) : {} }];
    }
    const isOne = maker.kind === 'one' || maker.kind === 'json';
    const kind = isOne && data ? (this.#isList(data) ? 'list' : 'one') : maker.kind;
    return [{ status, kind, types, mediaType }];
  }

  /** The documents in a body. */
  #dataOf(body: Node | undefined): Node | undefined {
    const data = memberOf(body, 'data');
    if (data && isPropertyAssignment(data)) return data.initializer;
    if (!data || !isShorthandPropertyAssignment(data)) return undefined;
    const declaration = this.#project.checker.getShorthandAssignmentValueSymbol(data)?.valueDeclaration?.resolve();
    return declaration && initialValueOf(declaration);
  }

  /** An answer that a handler writes itself: its media type is among its headers. */
  #written(answer: Node, status: number): Success {
    const member = memberOf(answer, 'headers');
    const named = member && isPropertyAssignment(member) ? member.initializer : (member as { name?: Node })?.name;
    const headers = named && isIdentifier(named) ? this.#initializer(named)[0] : named;
    const type = memberOf(headers, 'content-type');
    const [mediaType] = type && isPropertyAssignment(type) ? constant(this.#project, type.initializer).split(';') : [];
    return mediaType
      ? { status, kind: 'text', types: [], mediaType }
      : { status, kind: 'unknown', types: [], mediaType: jsonApi };
  }

  #isList(data: Node): boolean {
    const type = this.#project.checker.getTypeAtLocation(data);
    return type !== undefined && this.#project.checker.isArrayLikeType(type);
  }

  /** Types of all documents that an expression leads to. */
  #typesIn(node: Node, depth: number): Set<string> {
    const known = this.#types.get(node);
    if (known) return known;
    const types = new Set<string>();
    this.#types.set(node, types);
    visit(node, (inner) => {
      for (const type of documentIn(this.#project, inner)?.types ?? []) types.add(type);
      if (depth >= maxDepth || !isIdentifier(inner)) return;
      const [value] = this.#initializer(inner);
      if (value && value !== node) for (const type of this.#typesIn(value, depth + 1)) types.add(type);
    });
    return types;
  }

  /** @returns the value of a constant or function, and its file relative to the checkout */
  #initializer(name: Node): [Node | undefined, string] {
    const declaration = declarationOf(this.#project, name);
    const file = declaration ? relative(root, declaration.getSourceFile().fileName) : '';
    return [file.startsWith('functions/') ? declaration && initialValueOf(declaration) : undefined, file];
  }
}
