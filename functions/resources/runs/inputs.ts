import { getObject, putObject } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { open, type SecretContext } from '#platform/store/secrets.ts';
import { contextOf, listVariables, type Variable } from '#resources/variables/records.ts';
import { effectiveVariableSets } from '#resources/variables/set-records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { JobVariable } from '#run/protocols/runner.ts';
import type { Run } from '#run/run.ts';
import { ownRank, runRank } from '#run/variable-precedence.ts';

/** Values of a run's variables, fixed at its creation. */

/**
 * A variable stored with a run, or added by its creator. An encrypted value stays encrypted in the context of its
 * variable.
 */
export type FrozenVariable = Omit<JobVariable, 'value'> &
  ({ value: string } | { sealed: string; context: SecretContext });

const freeze = (variable: Variable): FrozenVariable => {
  const { key, hcl, sensitive, value = '', sealed } = variable;
  // Only policy sets have parameters.
  const category = variable.category as JobVariable['category'];
  const common = { key, category, hcl, sensitive };
  return sealed
    ? { ...common, sealed: Buffer.from(sealed).toString('base64'), context: contextOf(variable) }
    : { ...common, value };
};

const ofRun = ({ key, value }: Run['variables'][number]): FrozenVariable => ({
  key,
  value,
  category: 'terraform',
  hcl: true,
  sensitive: false,
});

type Home = Pick<Workspace, 'id' | 'organization' | 'projectId'>;

export interface EffectiveVariable {
  variable: Variable;
  /** Name of the variable set; absent for the workspace's own variables. */
  set?: string;
  rank: number;
}

/** Every variable of a workspace in rising precedence: its own, and those of variable sets. */
export const effectiveVariables = async (workspace: Home): Promise<EffectiveVariable[]> => {
  const [own, sets] = await Promise.all([listVariables(workspace.id), effectiveVariableSets(workspace)]);
  const ofSets = await Promise.all(
    sets.map(async ({ set, rank }) =>
      (await listVariables(set.id)).map((variable) => ({ variable, set: set.name, rank })),
    ),
  );
  const all: EffectiveVariable[] = [...own.map((variable) => ({ variable, rank: ownRank })), ...ofSets.flat()];
  // The sort is stable, so sets of equal rank keep their order.
  return all.sort((a, b) => a.rank - b.rank);
};

/**
 * Fixes the values of a run's variables. Of several values for one variable, stores only the effective one. Returns
 * the key of the stored object; undefined when there are no variables.
 * @param own.more variables of the platform, which take precedence over all others
 * @param own.reserved names of environment variables that only `more` may set; others with these names are dropped
 */
export const freezeVariables = async (
  workspace: Home,
  runId: string,
  runVariables: Run['variables'],
  { more: additional = [], reserved }: { more?: FrozenVariable[]; reserved?: RegExp } = {},
): Promise<string | undefined> => {
  const effective = (await effectiveVariables(workspace)).filter(
    ({ variable: { category, key } }) => category !== 'env' || !reserved?.test(key),
  );
  const own = runVariables.map(ofRun);
  const ranked = (from: number, to: number) =>
    effective.filter(({ rank }) => from <= rank && rank < to).map(({ variable }) => freeze(variable));
  const rising = [...ranked(0, runRank), ...own, ...ranked(runRank, Infinity), ...additional];
  return storeInputs(runId, [
    ...new Map(rising.map((variable) => [`${variable.category} ${variable.key}`, variable])).values(),
  ]);
};

const storeInputs = async (runId: string, variables: FrozenVariable[]): Promise<string | undefined> => {
  if (variables.length === 0) return undefined;
  const objectKey = objects.inputs(runId);
  await putObject(objectKey, JSON.stringify({ variables }), 'application/json');
  return objectKey;
};

/** Fixes the variables of a test run: the module's environment variables, and those given to the run. */
export const freezeTestVariables = async (
  moduleId: string,
  runId: string,
  runVariables: Run['variables'],
): Promise<string | undefined> =>
  storeInputs(runId, [...(await listVariables(moduleId)).map(freeze), ...runVariables.map(ofRun)]);

const readInputs = async (run: Pick<Run, 'id' | 'inputsKey'>): Promise<FrozenVariable[]> => {
  if (!run.inputsKey) return [];
  const object = await getObject(run.inputsKey);
  if (!object) throw new Error(`the variables of run ${run.id} are missing (${run.inputsKey})`);
  return (JSON.parse(object.toString('utf8')) as { variables: FrozenVariable[] }).variables;
};

/** The run's variables without their values. */
export const listInputs = async (
  run: Pick<Run, 'id' | 'inputsKey'>,
): Promise<Pick<JobVariable, 'key' | 'category' | 'sensitive'>[]> =>
  (await readInputs(run)).map(({ key, category, sensitive }) => ({ key, category, sensitive }));

/**
 * The run's variables, decrypted. 1 KMS request per sensitive one.
 * @throws {Error} when a variable does not belong to this run's workspace
 */
export const openInputs = async (run: Pick<Run, 'id' | 'inputsKey' | 'workspaceId'>): Promise<JobVariable[]> => {
  const variables = await readInputs(run);
  return Promise.all(
    variables.map(async (variable) => {
      const { key, category, hcl, sensitive } = variable;
      const value = 'sealed' in variable ? await openFor(run, variable) : variable.value;
      return { key, value, category, hcl, sensitive };
    }),
  );
};

/** The encryption context is stored beside the value; a forged item could name another owner, so it is checked. */
const openFor = (
  { id, workspaceId }: Pick<Run, 'id' | 'workspaceId'>,
  { key, sealed, context }: { key: string; sealed: string; context: SecretContext },
): Promise<string> => {
  const owner = context.workspace ?? context.module;
  if (owner !== undefined && owner !== workspaceId) {
    throw new Error(`the value of ${key} in run ${id} belongs to ${context.module ? 'module' : 'workspace'} ${owner}`);
  }
  return open(Buffer.from(sealed, 'base64'), context);
};
