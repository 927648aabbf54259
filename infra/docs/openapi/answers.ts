import { relative } from 'node:path';
import type { CallExpression, Node } from 'typescript/unstable/ast';
import { isCallExpression, isIdentifier, isNumericLiteral, isPropertyAssignment } from 'typescript/unstable/ast/is';
import type { Project } from 'typescript/unstable/sync';
import { root } from '#platform/program.ts';
import { declarationOf, documentIn, folderOf, initialValueOf, nameOf, visit } from './syntax.ts';

/** The successful answers of routes: the functions of api/answer.ts and api/pagination.ts that a handler leads to. */

export interface Success {
  status: number;
  kind: 'one' | 'list' | 'empty' | 'text' | 'unknown';
  /** Types of the resources in it. */
  types: string[];
}

interface Maker {
  status?: number;
  kind: Success['kind'];
  /** Position of the documents among the arguments, or of the function that writes each. */
  data?: number;
}

/** Without a status: it is the first argument. */
const makers: Record<string, Maker> = {
  ok: { status: 200, kind: 'one', data: 0 },
  created: { status: 201, kind: 'one', data: 0 },
  accepted: { status: 202, kind: 'empty' },
  noContent: { status: 204, kind: 'empty' },
  done: { status: 200, kind: 'empty' },
  redirect: { kind: 'empty' },
  plainText: { status: 200, kind: 'text' },
  json: { kind: 'unknown' },
  list: { status: 200, kind: 'list', data: 3 },
  registryList: { status: 200, kind: 'list', data: 3 },
  listWithoutTotal: { status: 200, kind: 'list', data: 3 },
  wholeList: { status: 200, kind: 'list', data: 1 },
  pageFrom: { status: 200, kind: 'list', data: 2 },
};

const maxDepth = 8;

const isSuccess = (status: number): boolean => status >= 200 && status < 400;

const numberOf = (node: Node | undefined): number => (node && isNumericLiteral(node) ? Number(node.text) : 0);

/** The status of an answer that a handler writes itself. */
const statusIn = (node: Node): number =>
  isPropertyAssignment(node) && nameOf(node) === 'statusCode' ? numberOf(node.initializer) : 0;

/** What a function returns, as its declaration names it. */
const isAnswering = (node: Node): boolean =>
  /\bAnswer\b/.test(node.getSourceFile().text.slice(node.pos, node.end).split('=>').slice(0, 3).join(''));

export class Answers {
  readonly #project: Project;
  readonly #answers = new Map<Node, Success[]>();
  readonly #types = new Map<Node, Set<string>>();

  constructor(project: Project) {
    this.#project = project;
  }

  /** @returns one for each status; none if the source does not show them, as for a handler that is passed to the routes */
  of(handler: Node): Success[] {
    const byStatus = Map.groupBy(this.#in(handler, folderOf(handler), 0), ({ status }) => status);
    return [...byStatus].map(([status, all]) => {
      const types = [...new Set(all.flatMap((success) => success.types))].sort();
      const [kind = 'unknown', ...others] = new Set(all.map((success) => success.kind));
      const isDocument = kind === 'one' || kind === 'list';
      const isClear = others.length === 0 && (!isDocument || all.every((success) => success.types.length > 0));
      return isClear ? { status, kind, types } : { status, kind: 'unknown', types: [] };
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
      if (isSuccess(status)) found.push({ status, kind: 'unknown', types: [] });
    });
    if (depth >= maxDepth) return found;
    for (const name of names) {
      const [inner, at] = this.#initializer(name);
      if (!inner || inner === node || /^functions\/api\/(answer|pagination)\.ts$/.test(at)) continue;
      if (`${root}/${at}`.startsWith(`${folder}/`) || isAnswering(inner))
        found.push(...this.#in(inner, folder, depth + 1));
    }
    return found;
  }

  #made(call: CallExpression): Success[] {
    const maker = makers[(call.expression as { text?: string }).text ?? ''];
    if (!maker) return [];
    const [, at] = this.#initializer(call.expression);
    if (!/^functions\/api\/(answer|pagination)\.ts$/.test(at)) return [];
    const [first] = call.arguments;
    const status = maker.status ?? numberOf(first);
    if (!isSuccess(status)) return [];
    const data = maker.data === undefined ? undefined : call.arguments[maker.data];
    const isList = data && maker.kind === 'one' && this.#isList(data);
    return [{ status, kind: isList ? 'list' : maker.kind, types: data ? [...this.#typesIn(data, 0)] : [] }];
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
      const document = documentIn(inner);
      if (document) types.add(document.type);
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
