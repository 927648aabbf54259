import * as v from 'valibot';
import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { keyTaken, notFound, unprocessable } from '#api/errors.ts';
import { versionGuard, withEtag } from '#api/guard.ts';
import { pageFrom, wholeList } from '#api/pagination.ts';
import type { Permission } from '#api/permissions/permissions.ts';
import { type Context, type Finder, noContentAfter, type Route, route } from '#api/route.ts';
import { readWhole } from '#api/validation.ts';
import { isModule } from '#platform/store/keys.ts';
import { now } from '#platform/store/time.ts';
import { buildVariable, checkUnmanaged } from '#resources/workspaces/managed.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { variableDocument } from './document.ts';
import { changeOf, readNewVariable, readVariableChange, variableChange } from './input.ts';
import {
  createVariable,
  deleteVariable,
  getVariable,
  listVariables,
  updateVariable,
  type Variable,
} from './records.ts';
import { getVariableSet, maxOf, type VariableSet } from './set-records.ts';

/** Routes of variables that workspaces and variable sets share. */

/** A registry module, whose tests have environment variables only (HCP API: test variables). */
interface TestedModule {
  id: string;
  organization: string;
  name: string;
  registry: string;
}

type Owner = Workspace | VariableSet | TestedModule;

/** Cloud credentials of a run are bound to its workspace; a test run has no workspace. */
const asksForIdentity = /^TFC_(WORKLOAD_IDENTITY_|[A-Z]+_PROVIDER_AUTH|\w+_BACKED_[A-Z]+_AUTH)/;

/** @throws {ApiError} 422 */
const checkTestVariable = (owner: Owner, { key, category }: Pick<Variable, 'key' | 'category'>): void => {
  if (!isModule(owner.id)) return;
  if ('registry' in owner && owner.registry === 'public') {
    throw unprocessable('/data', `${owner.name} is a public module: only private modules have tests`);
  }
  if (category !== 'env') {
    throw unprocessable(
      '/data/attributes/category',
      'category: must be env; send values of Terraform variables with the test run',
    );
  }
  if (asksForIdentity.test(key)) {
    throw unprocessable('/data/attributes/key', `key: ${key} has no effect: tests have no workload identity`);
  }
};

const checkRoom = (owner: Owner): void => {
  const maxVariables = maxOf.variableIds;
  if ('global' in owner && (owner.variableIds?.size ?? 0) >= maxVariables) {
    throw unprocessable('/data', `a variable set has at most ${maxVariables} variables; create another set`);
  }
};

/** @throws {ApiError} 409 */
const checkBuildVariable = (owner: Owner, { key, category }: Pick<Variable, 'key' | 'category'>): void => {
  if ('managedBy' in owner && category === 'env' && buildVariable.test(key))
    checkUnmanaged(owner, 'set CODER_ variables');
};

const create = async ({ request, subject }: Context<Owner>): Promise<Answer> => {
  const values = readNewVariable(request);
  checkBuildVariable(subject, values);
  checkTestVariable(subject, values);
  checkRoom(subject);
  const variable = await createVariable(subject.id, values);
  if (variable) return created(variableDocument(variable));
  // A concurrent request may have filled the set.
  const set = 'global' in subject ? await getVariableSet(subject.id) : undefined;
  if (set) checkRoom(set);
  throw keyTaken();
};

const find = async ({ request, subject }: Context<Owner>): Promise<Variable> => {
  const variable = await getVariable(subject.id, request.params.variable ?? '');
  if (!variable) throw notFound(`Variable not found in ${subject.name}.`);
  return variable;
};

const shown = (variable: Variable): Answer => withEtag(ok(variableDocument(variable)), variable);

const read = async (context: Context<Owner>): Promise<Answer> => shown(await find(context));

const update = async (context: Context<Owner>): Promise<Answer> => {
  const variable = await find(context);
  const change = (current: Variable) => readVariableChange(context.request, current);
  checkBuildVariable(context.subject, { ...variable, ...change(variable) });
  checkTestVariable(context.subject, { ...variable, ...change(variable) });
  const updated = await updateVariable(variable, await versionGuard(context, variable, 'variable', change));
  if (!updated) throw keyTaken();
  return shown(updated);
};

const remove = noContentAfter(async (_: Owner, context) => deleteVariable(await find(context)));

const byAge = (a: Variable, b: Variable): number => (a.createdAt < b.createdAt ? -1 : 1);

export const listOwned = async ({ request, subject }: Pick<Context<Owner>, 'request' | 'subject'>): Promise<Answer> => {
  const documents = (await listVariables(subject.id)).sort(byAge).map((variable) => variableDocument(variable));
  if (!isModule(subject.id)) return wholeList(request, documents);
  return pageFrom(request, documents, (document) => document);
};

const maxAtOnce = 100;

const batch = v.object({
  data: v.pipe(
    v.array(v.object({ id: v.pipe(v.string(), v.maxLength(100)), attributes: variableChange })),
    v.maxLength(maxAtOnce, `may have at most ${maxAtOnce} variables at once`),
  ),
});

/** Validates all changes before making the first. */
export const updateSome = async ({ request, subject, principal }: Context<Workspace>): Promise<Answer> => {
  const { data } = readWhole(request, batch);
  const changes = await Promise.all(
    data.map(async ({ id, attributes }, i) => {
      const variable = await getVariable(subject.id, id);
      if (!variable) throw unprocessable(`/data/${i}/id`, `id: variable ${id} not found in workspace ${subject.name}`);
      const edited = { by: principal.userId, at: now() };
      const change = (current: Variable) => ({ ...changeOf(current, attributes, `/data/${i}/attributes`), edited });
      checkBuildVariable(subject, { ...variable, ...change(variable) });
      return { variable, change, key: change(variable).key };
    }),
  );
  for (const [i, { variable, change, key }] of changes.entries()) {
    if (!(await updateVariable(variable, change))) {
      throw unprocessable(`/data/${i}/attributes/key`, `key: ${key} has already been taken`);
    }
  }
  return noContent();
};

export const variablesOf = <S extends Owner>(
  base: `/${string}`,
  finder: Finder<S>,
  [reading, writing]: [Permission, Permission],
): Route[] => [
  route('GET', base, reading, finder, listOwned),
  route('POST', base, writing, finder, create),
  route('GET', `${base}/{variable}`, reading, finder, read),
  route('PATCH', `${base}/{variable}`, writing, finder, update),
  route('DELETE', `${base}/{variable}`, writing, finder, remove),
];
