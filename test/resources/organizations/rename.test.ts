import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '#api/route.ts';
import { type Api, actingAs, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { bodyIn, fillPath, makeWorld, namedIn, type World } from '#test/support/world.ts';

/** Renamed organizations: everything follows the new name, and the former one means no other organization. */

let api: Api;
let members: Awaited<ReturnType<typeof memberHelpers>>;
let reads: Route[];
beforeAll(async () => {
  api = await startApi();
  members = await memberHelpers();
  const { routes } = await import('#public-api/all-routes.ts');
  reads = routes.filter(({ method, access }) => method === 'GET' && access !== 'anyone');
});
afterAll(() => api.close());

/** A text that occurs nowhere else. */
const oddName = () => uniqueName('former').replaceAll('-', 'Q');

const endRuns = async (organization: string): Promise<void> => {
  const { finishRun } = await import('#lifecycle/phases/finish.ts');
  const open = api.aws
    .items()
    .filter(({ pk, sk }) => pk === `ORG#${organization}` && /^(OPEN|TESTING|QUERYING|ASSESSING)#/.test(String(sk)));
  for (const { runId } of open) await finishRun(String(runId), 'Canceled');
};

const create = async (name: string, as: Api = api) => {
  const answer = await as.post('organizations', { name, email: 'a@b.test' });
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return name;
};

const rename = (from: string, to: string, as: Api = api) => as.patch(`organizations/${from}`, { name: to });

/** The world's resources, with the organization's new name. */
const renamedWorld = (world: World, from: string, to: string): World =>
  Object.fromEntries(Object.entries(world).map(([what, id]) => [what, id.replaceAll(from, to)])) as World;

/** Routes whose subject is in the query reject a request without it. */
const ask = async ({ path }: Pick<Route, 'path'>, world: World, token = api.token) => {
  const sent = { token, body: bodyIn(path, world) };
  const answer = await api.call('GET', fillPath(path, world), sent);
  return answer.status === 400 ? api.call('GET', `${fillPath(path, world)}?${namedIn(world).query}`, sent) : answer;
};

describe('after a rename', () => {
  let from: string;
  let to: string;
  let before: World;
  let world: World;
  const statuses = new Map<string, number>();
  beforeAll(async () => {
    from = await create(oddName());
    to = uniqueName('newname');
    before = await makeWorld(api, from);
    await endRuns(from);
    for (const route of reads) statuses.set(route.path, (await ask(route, before)).status);
    expect([...statuses.values()].filter((status) => status < 400).length).toBeGreaterThan(130);
    const answer = await rename(from, to);
    expect([answer.status, answer.body.data.id, answer.body.data.attributes.name]).toEqual([200, to, to]);
    world = renamedWorld(before, from, to);
  }, 240_000);

  it('every read has the same status as before, and no answer contains the former name', async () => {
    const wrong: unknown[] = [];
    for (const route of reads) {
      const { status, body, headers } = await ask(route, world);
      const text = JSON.stringify([body, headers]);
      const at = text.indexOf(from);
      // The audit trail keeps what happened under the former name.
      const isHistory = /audit-(trail|events)/.test(route.path);
      if (status !== statuses.get(route.path) || (at >= 0 && !isHistory)) {
        wrong.push([
          route.path,
          statuses.get(route.path),
          status,
          at < 0 ? '' : text.slice(Math.max(0, at - 60), at + 60),
        ]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('every path with the former name answers 410 with the new one, and 404 to others as for a missing one', async () => {
    const stranger = (await members.newUser(uniqueName('stranger'))).token;
    const missing = renamedWorld(before, from, uniqueName('missing'));
    const wrong: unknown[] = [];
    for (const route of reads.filter(({ path }) => /\{(organization|namespace)\}/.test(path))) {
      const { status, body } = await ask(route, before);
      const is410 = status === 410 && body.errors[0].detail.includes(`Organization ${from} is now ${to}.`);
      // The operator's routes find organizations of others too, by their current name only.
      const expected = route.path.includes('/admin/') ? status === 404 : is410;
      if (!expected && (statuses.get(route.path) ?? 0) < 400) wrong.push([route.path, status, body]);
      const [hidden, none] = [await ask(route, before, stranger), await ask(route, missing, stranger)];
      if (hidden.status !== none.status || JSON.stringify(hidden.body).includes(to))
        wrong.push([route.path, hidden.body]);
    }
    expect(wrong).toEqual([]);
  });
});

it('no answer to a change contains the former name', async () => {
  const from = await create(oddName());
  const to = uniqueName('newname');
  const before = await makeWorld(api, from);
  await endRuns(from);
  expect((await rename(from, to)).status).toBe(200);
  const world = renamedWorld(before, from, to);
  const { routes } = await import('#public-api/all-routes.ts');
  const changes = routes.filter(({ method, access }) => ['PATCH', 'POST'].includes(method) && access !== 'anyone');
  const answered = new Set<number>();
  const wrong: unknown[] = [];
  // Renames of the organization, and routes that end the world's resources, come last.
  for (const { method, path } of changes.filter(
    ({ path }) => !/actions\/delete|account|\{organization\}$/.test(path),
  )) {
    const ids = { '/data/id': 'x' };
    for (const body of [bodyIn(path, world), { data: [{ id: 'x', type: 'x' }] }, { data: { attributes: ids } }]) {
      const { status, body: answer, headers } = await api.call(method, fillPath(path, world), { body });
      answered.add(status);
      const text = JSON.stringify([answer, headers]);
      if (text.includes(from) || status >= 500) wrong.push([method, path, status, text.slice(0, 400)]);
    }
  }
  expect(wrong).toEqual([]);
  expect([...answered]).toEqual(expect.arrayContaining([200, 201, 422]));
}, 240_000);

describe('what leaves the platform after a rename', () => {
  it('has the new name: runs, their jobs, payloads, messages and identities', async () => {
    const from = await create(oddName());
    const to = uniqueName('newname');
    const workspace = (await api.post(`organizations/${from}/workspaces`, { name: 'w' })).body.data;
    expect((await rename(from, to)).status).toBe(200);
    await api.configuration(workspace.id);
    const related = { workspace: { data: { type: 'workspaces', id: workspace.id } } };
    const { id } = (await api.post('runs', {}, related)).body.data;
    const { getRun } = await import('#resources/runs/records.ts');
    const { buildJob } = await import('#runner/api/job.ts');
    const { runMessage } = await import('#run/notifications/run.ts');
    const { taskPayload } = await import('#run/task-payload.ts');
    const { runInput } = await import('#resources/policies/engine/input.ts');
    const run = await getRun(id);
    if (!run) throw new Error('no run');
    const settings = { HEARTBEAT_SECONDS: '5', TERRAFORM_ENGINE: 'terraform' };
    Object.assign(process.env, settings);
    const job = await buildJob(run, 'plan', 'token');
    for (const name of Object.keys(settings)) delete process.env[name];
    expect([job.organization, job.environment.TFC_WORKSPACE_SLUG]).toEqual([to, `${to}/w`]);
    const facts = { createdBy: 'a', updatedBy: null, baseUrl: 'https://x', configurationId: 'nc-1' };
    const around = { workspace: undefined, project: undefined, createdBy: 'a', variables: [] };
    const sent = [
      job,
      runMessage(run, { trigger: 'run:created', status: 'pending' } as never, facts),
      taskPayload({ run, result: { id: 'r', stage: 'pre_plan' }, ...facts, hasConfiguration: true } as never),
      runInput(run, around as never),
    ];
    for (const one of sent) expect(JSON.stringify(one)).not.toContain(from);
    expect(JSON.stringify(sent[2])).toContain(`/app/${to}/workspaces/w`);
    await endRuns(from);
  });

  it("lets a run's Terraform read by the new name only", async () => {
    const from = await create(oddName());
    const to = uniqueName('newname');
    const workspace = (await api.post(`organizations/${from}/workspaces`, { name: 'w' })).body.data;
    await rename(from, to);
    await api.configuration(workspace.id);
    const related = { workspace: { data: { type: 'workspaces', id: workspace.id } } };
    const { id } = (await api.post('runs', {}, related)).body.data;
    const { claimPhase } = await import('#lifecycle/phases/phases.ts');
    const { hashSecret, newSecret } = await import('#platform/store/id.ts');
    const { updateRun } = await import('#resources/runs/records.ts');
    const { stateTokenOf } = await import('#resources/runs/state-tokens.ts');
    const secret = newSecret();
    await updateRun(id, { set: { status: 'plan_queued', 'plan.claimHash': hashSecret(secret) } });
    const token = stateTokenOf(id, 'plan', (await claimPhase(`${id}.plan.${secret}`, 'nonce'))?.token ?? '');
    const paths = (name: string) => [`organizations/${name}/entitlement-set`, `organizations/${name}/workspaces/w`];
    for (const path of paths(to)) expect([path, (await api.get(path, { token })).status]).toEqual([path, 200]);
    for (const path of paths(from)) expect([path, (await api.get(path, { token })).status]).toEqual([path, 410]);
    await endRuns(from);
  });
});

describe('the former name', () => {
  const made = async () => {
    const owner = actingAs(api, (await members.newUser(uniqueName('owner'))).token);
    const [from, to] = [await create(uniqueName('first'), owner), uniqueName('second')];
    expect((await rename(from, to, owner)).status).toBe(200);
    return { from, to, owner };
  };

  it('changes and deletes nothing', async () => {
    const { from, to, owner } = await made();
    for (const [method, path, attributes] of [
      ['DELETE', `organizations/${from}`, {}],
      ['PATCH', `organizations/${from}`, { email: 'thief@b.test' }],
      ['POST', `organizations/${from}/workspaces`, { name: 'w' }],
      ['POST', `organizations/${from}/teams`, { name: 't' }],
      ['POST', `organizations/${from}/authentication-token`, {}],
    ] as const) {
      const { status } = await owner.call(method, path, { body: { data: { attributes } } });
      expect([method, path, status]).toEqual([method, path, 410]);
    }
    const { body } = await owner.get(`organizations/${to}`);
    expect(body.data.attributes.email).toBe('a@b.test');
    expect((await owner.get(`organizations/${to}/workspaces`)).body.data).toEqual([]);
  });

  it('belongs to no other organization, in any case, but to its own again', async () => {
    const { from, to, owner } = await made();
    const thief = await made();
    for (const name of [from, from.toUpperCase(), to, to.toUpperCase()]) {
      const other = actingAs(api, (await members.newUser(uniqueName('thief'))).token);
      expect([name, (await other.post('organizations', { name, email: 'a@b.test' })).status]).toEqual([name, 422]);
      expect([name, (await rename(thief.to, name, thief.owner)).status]).toEqual([name, 422]);
    }
    const third = uniqueName('third');
    expect((await rename(to, third, owner)).status).toBe(200);
    expect((await owner.get(`organizations/${to}`)).status).toBe(410);
    const back = await rename(third, from, owner);
    expect([back.status, back.body.data.id]).toEqual([200, from]);
    expect((await owner.get(`organizations/${from}`)).status).toBe(200);
    for (const former of [to, third]) {
      const { status, body } = await owner.get(`organizations/${former}`);
      expect([status, body.errors[0].detail]).toEqual([410, expect.stringContaining(`is now ${from}.`)]);
    }
  });

  it('stays reserved after the deletion of the organization', async () => {
    const { from, to, owner } = await made();
    expect((await owner.call('DELETE', `organizations/${to}`)).status).toBe(204);
    for (const name of [from, to]) {
      expect((await owner.post('organizations', { name, email: 'a@b.test' })).status).toBe(422);
      expect((await owner.get(`organizations/${name}`)).status).toBe(404);
    }
  });
});

describe('a rename', () => {
  it('waits for the end of all runs', async () => {
    const from = await create(uniqueName('busy'));
    const workspace = (await api.post(`organizations/${from}/workspaces`, { name: 'w' })).body.data;
    await api.configuration(workspace.id);
    const related = { workspace: { data: { type: 'workspaces', id: workspace.id } } };
    expect((await api.post('runs', {}, related)).status).toBe(201);
    const { status, body } = await rename(from, uniqueName('idle'));
    expect([status, body.errors[0].detail]).toEqual([409, expect.stringContaining('Runs are in progress')]);
    await endRuns(from);
    expect((await rename(from, uniqueName('idle'))).status).toBe(200);
  });

  it('is for owners', async () => {
    const from = await create(uniqueName('mine'));
    const { token } = await members.withFlags(from, 'manage-workspaces', 'manage-teams');
    expect((await rename(from, uniqueName('theirs'), actingAs(api, token))).status).toBe(403);
  });

  it('reaches members and tokens that exist, and those that come later', async () => {
    const [from, to] = [await create(uniqueName('old')), uniqueName('new')];
    const early = await members.withFlags(from);
    const tokenOf = async (name: string) =>
      (await api.post(`organizations/${name}/authentication-token`, {})).body.data.attributes.token;
    const organizationToken = await tokenOf(from);
    await rename(from, to);
    const late = await members.withFlags(from);
    for (const token of [early.token, late.token, organizationToken]) {
      expect((await api.get(`organizations/${to}`, { token })).body.data?.id).toBe(to);
      expect((await api.get(`organizations/${from}`, { token })).status).toBe(410);
    }
    expect((await api.get(`organizations/${to}`, { token: await tokenOf(to) })).status).toBe(200);
  });

  it('is continued by the sweep after an interruption at any call', async () => {
    const { handler: sweep } = await import('#lifecycle/repair/sweep.ts');
    const { getOrganization } = await import('#resources/organizations/records.ts');
    const { renameOrganization } = await import('#resources/organizations/rename.ts');
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    for (let call = 1; ; call++) {
      const [from, to] = [await create(uniqueName('cut')), uniqueName('whole')];
      const { token } = await members.withFlags(from);
      const record = await getOrganization(from);
      if (!record) throw new Error('no organization');
      api.aws.failCall(call, 'after');
      await renameOrganization(record, to).catch(() => {});
      const wasCut = !api.aws.pendingFault;
      api.aws.failCall(0, 'after');
      await update(keys.organization(from), {
        set: { dueAt: new Date(0).toISOString() },
        condition: 'attribute_exists(dueShard)',
      });
      await sweep();
      const [current, former] = (await getOrganization(from))?.shownName === to ? [to, from] : [from, to];
      for (const one of [token, api.token]) {
        expect([call, (await api.get(`organizations/${current}`, { token: one })).status]).toEqual([call, 200]);
        expect([404, 410]).toContain((await api.get(`organizations/${former}`, { token: one })).status);
      }
      if (!wasCut) {
        expect(call).toBeGreaterThan(6);
        break;
      }
    }
  });

  it('costs three reads per request with the name in the path, and none otherwise', async () => {
    const [from, to] = [await create(uniqueName('cheap')), uniqueName('dear')];
    const { id } = (await api.post(`organizations/${from}/workspaces`, { name: 'w' })).body.data;
    const callsOf = async (path: string) => {
      await api.get(path);
      const before = api.aws.calls;
      expect((await api.get(path)).status).toBe(200);
      return api.aws.calls - before;
    };
    const costs = async (name: string) => ({
      organization: await callsOf(`organizations/${name}`),
      byName: await callsOf(`organizations/${name}/workspaces/w`),
      byId: await callsOf(`workspaces/${id}`),
    });
    const before = await costs(from);
    await rename(from, to);
    const after = await costs(to);
    // The first search, the pointer, and the membership that is read ahead.
    expect(after).toEqual({ ...before, organization: before.organization + 3, byName: before.byName + 3 });
  });

  it('gives an organization ten names at most', async () => {
    let name = await create(uniqueName('many'));
    for (let n = 0; n < 10; n++) {
      const next = uniqueName('many');
      expect((await rename(name, next)).status).toBe(200);
      name = next;
    }
    const { status, body } = await rename(name, uniqueName('many'));
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('10 names')]);
  });
});
