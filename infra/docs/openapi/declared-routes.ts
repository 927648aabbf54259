import type { CallExpression, Node } from 'typescript/unstable/ast';
import { isArrowFunction, isCallExpression, isIdentifier, isTemplateExpression } from 'typescript/unstable/ast/is';
import type { Project } from 'typescript/unstable/sync';
import { constant, filesOf, folderOf, initializerOf, none, textOf, unknownPart, visit } from './syntax.ts';

/** The routes as the source declares them, for what the table of routes lacks at run time: their handlers. */

export interface DeclaredRoute {
  method: string;
  /** Without the prefix of the API; with {@link unknownPart} in place of other parts than constants. */
  path: string;
  handler: Node;
  /** Of the file that declares it. */
  folder: string;
}

/** Position of the handler among the arguments. */
const makers: Record<string, number> = { route: 4, userRoute: 3, openRoute: 3 };

const isMethod = (text: string): boolean => /^(GET|POST|PUT|PATCH|DELETE)$/.test(text);

/** Calls of functions that declare routes themselves name a method or a path. */
const mayDeclare = (call: CallExpression): boolean =>
  call.arguments.some(
    (argument) => isTemplateExpression(argument) || /^(\/|(GET|POST|PUT|PATCH|DELETE)$)/.test(textOf(argument) ?? ''),
  );

/** Parts of a path that are not constants stand for one segment each. */
const patternOf = (path: string): RegExp => {
  const constants = path.split(unknownPart).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${constants.join('[^/{}]+')}$`);
};

/**
 * @returns the declaration of a route; undefined if the source does not name its method or handler, or several
 * declarations fit
 */
export const findDeclared = (project: Project): ((method: string, path: string) => DeclaredRoute | undefined) => {
  const routes = declaredRoutes(project);
  const exact = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  const patterns = routes
    .filter(({ path }) => path.includes(unknownPart) && path !== unknownPart)
    .map((route) => ({ route, pattern: patternOf(route.path) }));
  return (method, path) => {
    const fitting = patterns.filter(({ route, pattern }) => route.method === method && pattern.test(path));
    return exact.get(`${method} ${path}`) ?? (fitting.length === 1 ? fitting[0]?.route : undefined);
  };
};

const declaredRoutes = (project: Project): DeclaredRoute[] => {
  const found: DeclaredRoute[] = [];
  const seeInside = (call: CallExpression): void => {
    const maker = initializerOf(project, call.expression);
    if (!maker || !isArrowFunction(maker)) return;
    const bindings = new Map<string, Node>();
    for (const [n, { name }] of maker.parameters.entries()) {
      const argument = call.arguments[n];
      if (argument && isIdentifier(name)) bindings.set(name.text, argument);
    }
    visit(maker.body, (node) => void (isCallExpression(node) && see(node, folderOf(maker), bindings)));
  };
  const see = (call: CallExpression, folder: string, bindings = none): void => {
    const at = makers[isIdentifier(call.expression) ? call.expression.text : ''];
    if (at === undefined) {
      if (bindings === none && mayDeclare(call)) seeInside(call);
      return;
    }
    const method = constant(project, call.arguments[0], bindings);
    const path = constant(project, call.arguments[1], bindings);
    const written = call.arguments[at];
    const handler = written && isIdentifier(written) ? (bindings.get(written.text) ?? written) : written;
    if (handler && isMethod(method)) found.push({ method, path, handler, folder });
  };
  for (const file of filesOf(project))
    visit(file, (node) => void (isCallExpression(node) && see(node, folderOf(file))));
  return found;
};
