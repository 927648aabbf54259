import { packFiles } from '#clients/cli/archive.ts';
import type { Client, Resource } from '#clients/client/client.ts';
import { taskStages } from '#run/check-record.ts';
import { configuration, type Flavor } from './ledger.ts';
import type { Chance } from './seeded-random.ts';

/** Workspaces that cover every stage of a run. */
export interface Place {
  id: string;
  name: string;
  versions: { id: string; flavor: Flavor }[];
  /** Its runs call run tasks. */
  asks: boolean;
  /**
   * Policies apply to its runs: `c` fails with an override before the estimate, `d` with one after it, `e` without one.
   */
  judged: boolean;
}

/** Four, because more workspaces in parallel only make a small machine slower. */
const kinds = [
  { name: 'plain', asks: false, judged: false },
  { name: 'asks', asks: true, judged: false },
  { name: 'judged', asks: false, judged: true },
  { name: 'everything', asks: true, judged: true },
];

const flavors: Flavor[] = [
  { names: ['a'] },
  { names: ['a', 'b'] },
  { names: ['b', 'c'] },
  { names: ['a', 'c', 'd'] },
  { names: ['b', 'e'] },
  { names: [] },
  { names: ['a'], broken: true },
  { names: ['a', 'b'], failing: true },
];

export interface Setting {
  client: Client;
  organization: string;
  ledger: string;
  canaries: readonly string[];
  tasksUrl: string;
  chance: Chance;
}

export const makePlaces = async (setting: Setting): Promise<Place[]> => {
  const places: Place[] = [];
  for (const kind of kinds) places.push(await makePlace(kind, setting));
  await addTasks(setting, places);
  await addPolicies(setting, places);
  return places;
};

const makePlace = async (kind: (typeof kinds)[number], setting: Setting): Promise<Place> => {
  const { client, organization, ledger, chance } = setting;
  const { name } = kind;
  const { id } = await client.createWorkspace(organization, name);
  const [canary, fromEnvironment] = setting.canaries;
  await client.setVariable(id, { key: 'canary', value: canary, sensitive: true });
  await client.setVariable(id, { key: 'CANARY', value: fromEnvironment, category: 'env', sensitive: true });
  const versions: Place['versions'] = [];
  for (const flavor of flavors) {
    const archive = await packFiles({ 'main.tf': configuration(ledger, name, flavor, chance.integer(4)) });
    versions.push({ id: (await client.upload(id, archive)).id, flavor });
  }
  return { ...kind, id, versions };
};

const addTasks = async ({ client, organization, tasksUrl, canaries }: Setting, places: Place[]): Promise<void> => {
  const of = async (name: string, level: string, stages: readonly string[]) => {
    const task = await client.create(`/organizations/${organization}/tasks`, 'tasks', {
      name,
      url: `${tasksUrl}${name}`,
      category: 'task',
      'hmac-key': canaries[2],
    });
    for (const { id, asks } of places)
      if (asks)
        await client.create(
          `/workspaces/${id}/tasks`,
          'workspace-tasks',
          { 'enforcement-level': level, stages },
          { task: { data: { type: 'tasks', id: task.id } } },
        );
  };
  await of('strict', 'mandatory', taskStages);
  await of('lax', 'advisory', ['post_plan', 'pre_apply']);
};

const addPolicies = async (setting: Setting, places: Place[]): Promise<void> => {
  const workspaces = places.filter(({ judged }) => judged);
  await addPolicySet(setting, workspaces, 'c', 'mandatory', { kind: 'opa', overridable: true });
  await addPolicySet(setting, workspaces, 'd', 'soft-mandatory', { kind: 'sentinel' });
  await addPolicySet(setting, workspaces, 'e', 'hard-mandatory', { kind: 'sentinel' });
};

/** Fails for configurations that contain the name; the plan of a destroy run contains no names. */
const addPolicySet = async (
  { client, organization }: Setting,
  places: Place[],
  name: string,
  level: string,
  attributes: object,
): Promise<void> => {
  const set = await client.create(
    `/organizations/${organization}/policy-sets`,
    'policy-sets',
    { name: `no-${name}`, ...attributes },
    { workspaces: { data: places.map(({ id }) => ({ type: 'workspaces', id })) } },
  );
  const version: Resource = await client.create(`/policy-sets/${set.id}/versions`, 'policy-set-versions', {});
  const files = {
    'policies.hcl': `policy "names" {\n  query = "data.names.deny"\n  enforcement_level = "${level}"\n}\n`,
    'names.rego': `package names
deny contains msg if {
  some name in input.plan.planned_values.outputs.names.value
  name == "${name}"
  msg := name
}
`,
  };
  const put = await fetch(String(version.links?.upload), {
    method: 'PUT',
    body: (await packFiles(files)) as unknown as BodyInit,
  });
  if (!put.ok) throw new Error(`policies: ${put.status} ${await put.text()}`);
};
