import { expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { on } from '#test/support/runs.ts';
import { stateFile } from '#test/support/state.ts';

/** A page costs the same number of requests to the table for any number of rows, with all includes. */

const api = await startApi();
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
};
const { id, attributes } = await api.workspace();
const first = id;
const name = attributes.name;
await api.configuration(id);

const made = async (path: string, attributes: object, relationships?: object) => {
  const { status, body } = await api.post(path, attributes, relationships);
  expect([path, status < 300, body.errors]).toEqual([path, true, undefined]);
  return body.data;
};

/** A new user with a name. */
const newUser = async (): Promise<string> => {
  const id = uniqueName('user-');
  await store.put({ ...store.keys.user(id), id, username: id });
  return id;
};

/** Adds a row to every list, with included resources that differ from its neighbours'. */
const addRow = async (): Promise<void> => {
  const project = await made('organizations/acme/projects', { name: uniqueName('project') });
  const place = { project: { data: { type: 'projects', id: project.id } } };
  const workspace = await made('organizations/acme/workspaces', { name: uniqueName('ws') }, place);
  await api.configuration(workspace.id);
  for (const id of [workspace.id, first]) {
    const version = (await api.configuration(id)).id;
    const run = await made('runs', {}, on(id, version));
    await store.updateRun(run.id, { set: { createdBy: await newUser(), status: 'applied', current: false } });
    const lock = { kind: 'user', userId: api.userId, reason: '', at: '1' };
    await store.update(store.keys.workspace(id), { set: { lock, latestRunId: run.id } });
    const serial =
      ((await store.get<{ state?: { serial: number } }>(store.keys.workspace(id)))?.state?.serial ?? 0) + 1;
    const { text, md5, lineage } = stateFile({ serial });
    const state = { serial, md5, lineage, state: Buffer.from(text).toString('base64') };
    const { id: stateId } = await made(`workspaces/${id}/state-versions`, state);
    const userId = await newUser();
    await store.update(store.keys.stateVersion(stateId), { set: { userId, runId: run.id } });
    await store.update(store.keys.workspace(id), { set: { lock: { ...lock, userId } } });
  }
  await made(`workspaces/${first}/vars`, { key: uniqueName('key'), value: 'v', category: 'env' });
  await made('organizations/acme/teams', { name: uniqueName('team') });
  await made('organizations/acme/varsets', { name: uniqueName('set') });
  await made('organizations/acme/policy-sets', { name: uniqueName('set') });
};

const workspaceIncludes = [
  ...['organization', 'project', 'current_run', 'current_run.plan', 'current_run.apply', 'locked_by'],
  ...['current_run.configuration_version', 'latest_run', 'latest_run.plan', 'current_configuration_version'],
  ...['current_state_version', 'current_assessment_result', 'effective_tag_bindings'],
  ...['current_configuration_version.ingress_attributes', 'latest_run.configuration_version.ingress_attributes'],
];
const runIncludes = [
  ...['plan', 'apply', 'created_by', 'cost_estimate', 'configuration_version', 'workspace', 'task_stages'],
  ...['configuration_version.ingress_attributes'],
];

/** Requests of the terraform command line, go-tfe and the page. A pool's agents cost one query per pool. */
const lists = (): string[] => [
  'organizations/acme/workspaces',
  'organizations/acme/workspaces?page[size]=100&search[name]=ws',
  'organizations/acme/workspaces?sort=current-run.created-at&include=current_run',
  `organizations/acme/workspaces?page[size]=100&include=${workspaceIncludes}`,
  `workspaces/${first}/runs`,
  `workspaces/${first}/runs?include=${runIncludes}`,
  `organizations/acme/runs?include=${runIncludes}`,
  `organizations/acme/runs?filter[status]=applied&include=${runIncludes}`,
  `state-versions?filter[organization][name]=acme&filter[workspace][name]=${name}`,
  `state-versions?filter[organization][name]=acme&filter[workspace][name]=${name}&include=run,created_by,run.created_by,run.configuration_version`,
  `workspaces/${first}/configuration-versions?include=ingress_attributes`,
  `workspaces/${first}/vars`,
  'organizations/acme/projects',
  'organizations/acme/teams',
  'organizations/acme/varsets',
  'organizations/acme/policy-sets',
];

/** Number of requests to the table and of rows, by list. */
const counted = async () => {
  const counts = new Map<string, { rows: number; calls: number }>();
  for (const path of lists()) {
    const before = api.aws.calls;
    const { status, body } = await api.get(path);
    expect([path, status]).toEqual([path, 200]);
    counts.set(path, { rows: body.data.length, calls: api.aws.calls - before });
  }
  return counts;
};

it('a list costs the same number of reads for many rows as for few', async () => {
  for (let n = 0; n < 2; n++) await addRow();
  const few = await counted();
  for (let n = 0; n < 5; n++) await addRow();
  const many = await counted();
  const grown = lists().flatMap((path) => {
    const [one, other] = [few.get(path), many.get(path)];
    expect([path, other?.rows]).not.toEqual([path, one?.rows]);
    return one?.calls === other?.calls
      ? []
      : [`${path}: ${one?.calls} calls for ${one?.rows}, ${other?.calls} for ${other?.rows}`];
  });
  expect(grown).toEqual([]);
  const most = Object.fromEntries([...many].map(([path, { calls }]) => [path, calls]));
  expect(most['organizations/acme/workspaces']).toBeLessThanOrEqual(5);
  expect(most[`workspaces/${first}/runs`]).toBeLessThanOrEqual(5);
  console.log(most);
});
