import { type Answer, many, one } from '#api/answer.ts';
import { includable } from '#api/include.ts';
import { wholeList } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { isVariableSet } from '#platform/store/keys.ts';
import { variableDocument } from '#resources/variables/document.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { effectiveVariables } from './inputs.ts';

const include = includable('overwritten');

/**
 * The workspace's own variables and those of variable sets, in the precedence of runs. The overridden variables are
 * included on request.
 */
const listEffective = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const includes = include.of(request);
  const rising = (await effectiveVariables(subject)).map(({ variable }) => variable);
  const groups = Map.groupBy(rising, ({ category, key }) => `${category} ${key}`);
  const documents = rising.map((variable) => {
    const group = groups.get(`${variable.category} ${variable.key}`) ?? [];
    const winner = group.at(-1);
    const won = winner === variable ? group.slice(0, -1).map(({ id }) => id) : [];
    const document = variableDocument(variable, {
      overwritten: many('vars', won),
      overwriter: one('vars', winner === variable ? null : winner?.id),
    });
    // Clients expect a workspace here; `varset` names the variable set.
    if (isVariableSet(variable.ownerId)) {
      const { configurable: _, ...relationships } = document.relationships;
      return { ...document, relationships };
    }
    return document;
  });
  const [lost = [], won = []] = [true, false].map((isLost) =>
    documents.filter(({ relationships }) => (relationships.overwriter?.data !== null) === isLost).reverse(),
  );
  return wholeList(request, won, includes.has('overwritten') ? lost : undefined);
};

export const effectiveVariableRoutes: Route[] = [
  route('GET', '/workspaces/{workspace}/all-vars', 'variable:read', workspace, listEffective, { include }),
];
