import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { ids, on, runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

describe('run lists', () => {
  it('show the newest first, in pages', async () => {
    const { id } = await help.ready();
    const createdIds: string[] = [];
    for (let i = 0; i < 5; i++) createdIds.unshift((await help.create(id)).id);
    const first = (await api.get(`workspaces/${id}/runs?page[size]=2`)).body;
    const last = (await api.get(`workspaces/${id}/runs?page[size]=2&page[number]=3`)).body;
    expect([ids(first.data), ids(last.data)]).toEqual([createdIds.slice(0, 2), createdIds.slice(4)]);
    expect(last.meta.pagination).toMatchObject({ 'total-count': 5, 'total-pages': 3, 'next-page': null });
    const past = (await api.get(`workspaces/${id}/runs?page[number]=999`)).body;
    expect([past.data, past.meta.pagination['current-page']]).toEqual([[], 999]);
  });

  it('leave out a run whose creation came too late', async () => {
    const { getRuns } = await import('#resources/runs/records.ts');
    const { keys } = await import('#platform/store/keys.ts');
    const { put } = await import('#platform/store/table.ts');
    const { id } = await help.create((await help.ready()).id);
    const late = 'run-0000000000000000';
    await put({ ...keys.run(late), voidedPlace: '1' });
    expect((await getRuns([late, id])).map((run) => run.id)).toEqual([id]);
  });

  it('leave plan-only runs out unless requested', async () => {
    const { id } = await help.ready();
    const createdIds: string[] = [];
    for (const planOnly of [false, true, true, false, true]) {
      createdIds.unshift((await help.create(id, { 'plan-only': planOnly })).id);
    }
    const [third, appliable, second, , first] = createdIds;
    const list = async (query: string) => (await api.get(`workspaces/${id}/runs?${query}`)).body;
    const plain = await list('');
    expect(ids(plain.data)).toEqual([appliable, first]);
    expect(plain.meta.pagination['total-count']).toBe(2);
    expect(ids((await list('page[size]=1&page[number]=2')).data)).toEqual([first]);
    const speculative = await list('filter[operation]=plan_only&page[size]=2');
    expect(ids(speculative.data)).toEqual([third, second]);
    expect(speculative.meta.pagination['total-count']).toBe(3);
    expect((await list('filter[operation]=plan_only,plan_and_apply')).data).toHaveLength(5);
  });

  it('are filtered by status, source, operation, group and text', async () => {
    const { id } = await help.ready();
    const applied = await help.create(id, { message: 'Needle in the message' });
    const destroy = await help.create(id, { 'is-destroy': true });
    await help.bring(applied.id, { status: 'applied' });
    const list = async (query: string) => ids((await api.get(`workspaces/${id}/runs?${query}`)).body.data);
    expect(await list('filter[status]=applied,errored')).toEqual([applied.id]);
    expect(await list('filter[operation]=destroy')).toEqual([destroy.id]);
    expect(await list('filter[source]=tfe-api')).toHaveLength(2);
    expect(await list('filter[source]=tfe-ui')).toEqual([]);
    expect(await list('filter[status_group]=final')).toEqual([applied.id]);
    expect(await list('filter[status_group]=discardable')).toEqual([destroy.id]);
    expect(await list('search[basic]=needle')).toEqual([applied.id]);
    expect(await list('search[commit]=abc')).toEqual([]);
    const unknown = await api.get(`workspaces/${id}/runs?filter[status]=sideways`);
    expect([unknown.status, unknown.body.errors[0].source]).toEqual([400, { parameter: 'filter[status]' }]);
  });

  it('are available for the organization, without totals', async () => {
    const [one, two] = [await help.ready(), await help.ready()];
    const runIds = [await help.create(one.id), await help.create(two.id), await help.create(one.id)]
      .map(({ id }) => id)
      .reverse();
    const page = (await api.get('organizations/acme/runs?page[size]=2')).body;
    expect(ids(page.data)).toEqual(runIds.slice(0, 2));
    expect(page.meta.pagination).toEqual({ 'current-page': 1, 'page-size': 2, 'prev-page': null, 'next-page': 2 });
    const { name } = (await api.get(`workspaces/${two.id}`)).body.data.attributes;
    const ofTwo = await api.get(`organizations/acme/runs?filter[workspace_names]=${name}`);
    expect(ids(ofTwo.body.data)).toEqual([runIds[1]]);
  });

  it('leave out runs of deleted workspaces, for owners too', async () => {
    const { id } = await help.ready();
    const applied = await help.create(id);
    await help.bring(applied.id, { status: 'applied' });
    const listed = async () => ids((await api.get('organizations/acme/runs?page[size]=100')).body.data);
    expect(await listed()).toContain(applied.id);
    expect((await api.call('DELETE', `workspaces/${id}`)).status).toBe(204);
    expect(await listed()).not.toContain(applied.id);
    expect((await api.get(`runs/${applied.id}`)).status).toBe(404);
  });
});

describe('items read by a list', () => {
  /** The token, the subject and the membership. */
  const always = 3;
  const cost = async (path: string) => {
    const before = api.aws.itemsRead;
    const { body } = await api.get(path);
    return { items: api.aws.itemsRead - before - always, ids: ids(body.data), page: body.meta.pagination };
  };

  it('are one pointer and one run per entry on any page without plan-only runs', async () => {
    const { id } = await help.ready();
    for (let n = 0; n < 8; n++) await help.create(id);
    for (const page of [1, 2]) {
      expect(await cost(`workspaces/${id}/runs?page[size]=3&page[number]=${page}`)).toMatchObject({ items: 6 });
    }
  });

  it("are the page's runs and the pointers before it when plan-only runs are left out", async () => {
    const { id } = await help.ready();
    for (let n = 0; n < 12; n++) await help.create(id, { 'plan-only': n % 2 === 0 });
    const { items, ids: listed } = await cost(`workspaces/${id}/runs?page[size]=3`);
    expect(listed).toHaveLength(3);
    expect(items).toBe(12 + 3);
  });

  it('are only active runs when filtered by active statuses', async () => {
    const { id } = await help.ready();
    const createdIds: string[] = [];
    for (let n = 0; n < 6; n++) createdIds.push((await help.create(id)).id);
    const { finishRun } = await import('#lifecycle/phases/finish.ts');
    for (const one of createdIds.slice(0, 5)) await finishRun(one, 'Discarded');
    const list = await cost(`workspaces/${id}/runs?filter[status_group]=non_final`);
    expect(list.ids).toEqual([createdIds[5]]);
    const open = (
      await cost(
        'organizations/acme/runs?filter[status]=pending&filter[operation]=plan_only,plan_and_apply&page[size]=100',
      )
    ).ids.length;
    // Pointers of all open runs in the organization, and the single run of this workspace.
    expect(list.items).toBeLessThanOrEqual(open + 5 + 1);
    const everywhere = await cost(
      'organizations/acme/runs?filter[status_group]=non_final&filter[operation]=plan_and_apply',
    );
    expect(everywhere.ids).not.toContain(createdIds[0]);
    expect(everywhere.ids).toContain(createdIds[5]);
  });

  it('are bounded: filters stop when the page is full', async () => {
    const { id } = await help.ready();
    for (let n = 0; n < 30; n++) await help.create(id, { message: n === 2 ? 'needle' : 'hay' });
    const hay = await cost(`workspaces/${id}/runs?search[basic]=hay&page[size]=2`);
    expect(hay.page).toMatchObject({ 'next-page': 2 });
    expect(hay.items).toBeLessThan(50);
    expect(await cost(`workspaces/${id}/runs?search[basic]=needle`)).toMatchObject({
      ids: [expect.any(String)],
      page: { 'total-count': 1, 'next-page': null },
    });
  });
});

describe('run searches', () => {
  it('find runs by author and by year', async () => {
    const { id } = await help.ready();
    const planner = await help.user('plan');
    const run = (await api.post('runs', {}, on(id), { token: planner.token })).body.data;
    await help.create(id);
    const list = async (path: string) => ids((await api.get(path)).body.data);
    expect(await list(`workspaces/${id}/runs?search[user]=MEMBER-plan`)).toEqual([run.id]);
    expect(await list(`workspaces/${id}/runs?search[basic]=member-plan`)).toEqual([run.id]);
    const year = new Date().getUTCFullYear();
    expect(await list(`organizations/acme/runs?filter[timeframe]=${year}&page[size]=100`)).toContain(run.id);
    expect(await list('organizations/acme/runs?filter[timeframe]=year&page[size]=100')).toContain(run.id);
    expect(await list(`organizations/acme/runs?filter[timeframe]=${year - 1}`)).toEqual([]);
    expect((await api.get('organizations/acme/runs?filter[timeframe]=soon')).status).toBe(400);
  });

  it('accept the workspace or the organization in the query too', async () => {
    const { id } = await help.ready();
    const run = await help.create(id);
    expect(ids((await api.get(`runs?workspace_id=${id}`)).body.data)).toEqual([run.id]);
    expect(ids((await api.get('runs?organization_name=acme&page[size]=100')).body.data)).toContain(run.id);
    expect((await api.get('runs')).status).toBe(400);
    expect((await api.get('runs?organization_name=elsewhere')).status).toBe(404);
  });
});

describe('the organization’s queue', () => {
  it('lists and counts pending and active runs', async () => {
    const { id } = await help.ready();
    const [planning, waiting, asking] = [await help.create(id), await help.create(id), await help.create(id)];
    const capacity = async () => (await api.get('organizations/acme/capacity')).body.data.attributes;
    const before = await capacity();
    await help.bring(planning.id, { status: 'planning' });
    await help.bring(asking.id, { status: 'planned' });
    expect(await capacity()).toEqual({ pending: before.pending - 2, running: before.running + 1 });
    const queue = (await api.get('organizations/acme/runs/queue')).body;
    expect(ids(queue.data)).toEqual(expect.arrayContaining([planning.id, waiting.id]));
    expect(ids(queue.data)).not.toContain(asking.id);
    expect(queue.meta.pagination['total-count']).toBe(queue.data.length);
  });

  it('shows how many runs are ahead of a pending run, as the run itself and the answer to its creation do', async () => {
    const { id } = await help.ready();
    const speculative = await help.create(id, { 'plan-only': true });
    const [first, second, third] = [await help.create(id), await help.create(id), await help.create(id)];
    await help.bring(first.id, { status: 'planning' });
    const positions = async (path: string) => {
      const { data } = (await api.get(path)).body;
      const all = [data].flat().map((run) => [run.id, run.attributes['position-in-queue']]);
      return Object.fromEntries(all.filter(([runId]) => [first, second, third].some((run) => run.id === runId)));
    };
    const expected = { [first.id]: 0, [second.id]: 1, [third.id]: 2 };
    expect(await positions('organizations/acme/runs/queue')).toEqual(expected);
    expect(await positions(`runs/${third.id}`)).toEqual({ [third.id]: 2 });
    expect([first, second, third].map((run) => run.attributes['position-in-queue'])).toEqual([0, 1, 2]);
    const { data } = (await api.get(`runs/${speculative.id}`)).body;
    expect(data.attributes['position-in-queue']).toBe(0);
  });
});
