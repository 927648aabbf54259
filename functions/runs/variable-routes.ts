import { type Answer, many, one } from '../api/answer.ts';
import { wholeList } from '../api/pagination.ts';
import { type Context, type Route, route } from '../api/route.ts';
import { variableDocument } from '../variables/document.ts';
import { workspace } from '../workspaces/finder.ts';
import type { Workspace } from '../workspaces/records.ts';
import { effectiveVariables } from './inputs.ts';

/** Its own and those of variable sets, each with what it wins over, or what wins over it. */
const listEffective = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const rising = (await effectiveVariables(subject)).map(({ variable }) => variable);
  const groups = Map.groupBy(rising, ({ category, key }) => `${category} ${key}`);
  const documents = rising.map((variable) => {
    const group = groups.get(`${variable.category} ${variable.key}`) ?? [];
    const winner = group.at(-1);
    const won = winner === variable ? group.slice(0, -1).map(({ id }) => id) : [];
    return variableDocument(variable, {
      overwritten: many('vars', won),
      overwriter: one('vars', winner === variable ? null : winner?.id),
    });
  });
  return wholeList(request, documents.reverse());
};

export const effectiveVariableRoutes: Route[] = [
  route('GET', '/workspaces/{workspace}/all-vars', 'variable:read', workspace, listEffective),
];
