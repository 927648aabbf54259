import { beforeAll, describe, expect, it } from 'vitest';
import { keys } from '#platform/store/keys.ts';
import { startApi } from '#test/support/api.ts';

const api = await startApi();
const table = await import('#platform/store/table.ts');
const organization = 'many';
const base = `organizations/${organization}`;
const count = 150;

const name = (i: number) => `${['Web', 'db', 'net'][i % 3]}-${String(i).padStart(3, '0')}`;
const all = Array.from({ length: count }, (_, i) => name(i)).sort((a, b) =>
  a.toLowerCase() < b.toLowerCase() ? -1 : 1,
);

await api.post('organizations', { name: organization, email: 'a@b.test' });
const project = (await api.post(`${base}/projects`, { name: 'Data' })).body.data.id;
const inProject = { project: { data: { type: 'projects', id: project } } };
const create = (i: number) =>
  api.post(`${base}/workspaces`, { name: name(i) }, name(i).startsWith('db') ? inProject : {});
for (let i = 0; i < count; i += 10) await Promise.all(Array.from({ length: 10 }, (_, j) => create(i + j)));

interface Named {
  attributes: { name: string };
}
/** Token, organization and membership. */
const always = 3;

/** Response of a list, and the number of items read for it. */
const list = async (query: string, path = `${base}/workspaces`) => {
  const before = api.aws.itemsRead;
  const { body } = await api.get(`${path}?${query}`);
  const { pagination } = body.meta;
  return {
    names: body.data.map(({ attributes }: Named) => attributes.name),
    total: pagination['total-count'],
    next: pagination['next-page'],
    read: api.aws.itemsRead - before - always,
  };
};

describe('a page sorted by name', () => {
  it('reads only its entries and returns the total', async () => {
    expect(await list('page[size]=10')).toEqual({ names: all.slice(0, 10), total: count, next: 2, read: 10 + 11 });
    const last = await list('sort=-name&page[size]=10');
    expect(last).toEqual({ names: all.slice(-10).reverse(), total: count, next: 2, read: 10 + 11 });
  });

  it('reads only its entries when it follows another page', async () => {
    const listed: string[] = [];
    for (let page = 1; page <= count / 10; page++) {
      const { names, read } = await list(`page[size]=10&page[number]=${page}`);
      listed.push(...names);
      expect(read).toBeLessThanOrEqual(10 + 11);
    }
    expect(listed).toEqual(all);
  });

  it('reads the entries before it when requested first', async () => {
    const { names, read } = await list('page[size]=7&page[number]=15');
    expect(names).toEqual(all.slice(98, 105));
    expect(read).toBe(7 + 106);
  });

  it('reflects a renamed entry immediately', async () => {
    await list('page[size]=5');
    const second = await list('page[size]=5&page[number]=2');
    const path = `${base}/workspaces`;
    await api.post(path, { name: 'a-first' });
    expect((await list('page[size]=5&page[number]=2')).names).toEqual([all[4], ...second.names.slice(0, 4)]);
    await api.patch(`${path}/a-first`, { name: 'zz-last' });
    expect((await list('page[size]=5&page[number]=2')).names).toEqual(second.names);
    expect((await list('page[size]=5&page[number]=31')).names).toEqual(['zz-last']);
    await api.call('DELETE', `${path}/zz-last`);
    expect(await list('page[size]=50&page[number]=3')).toMatchObject({
      names: all.slice(100),
      next: null,
      total: count,
    });
  });

  it('past the end is empty and returns the total', async () => {
    expect(await list('page[number]=99')).toMatchObject({ names: [], total: count, next: null });
  });

  it('corrects a wrong total when no concurrent change is running', async () => {
    const key = keys.organization(organization);
    const counted = async () => (await table.get<{ workspaceCount: number }>(key))?.workspaceCount;
    await table.update(key, { set: { workspaceCount: 7 } });
    expect(await list('page[size]=100')).toMatchObject({ total: 101, next: 2 });
    expect(await list('page[size]=100&page[number]=2')).toMatchObject({ total: count, next: null });
    expect(await counted()).toBe(7);
    await table.update(key, { set: { workspaceChangedAt: '2020-01-01T00:00:00.000Z' } });
    await list('page[size]=100&page[number]=2');
    expect(await counted()).toBe(count);
  });
});

describe('a filter', () => {
  it('by project reads only the entries of the project', async () => {
    const { names, read } = await list(`filter[project][id]=${project}&page[size]=100`);
    expect(names).toEqual(all.filter((one) => one.startsWith('db')));
    expect(read).toBe(50 + 50);
  });

  it('by name prefix reads only matching entries, ignoring case', async () => {
    const { names, read } = await list('search[wildcard-name]=WEB-*&page[size]=20');
    expect(names).toEqual(all.filter((one) => one.startsWith('Web')).slice(0, 20));
    expect(read).toBe(50 + 20);
  });

  it('by anything else stops when the page is full', async () => {
    const { names, next, read } = await list('search[name]=b-&page[size]=5');
    expect(names).toEqual(all.filter((one) => /b-/i.test(one)).slice(0, 5));
    expect(next).toBe(2);
    expect(read).toBe(100 + 5);
  });

  it('without matches reads index entries only', async () => {
    expect(await list('search[name]=nothing')).toEqual({ names: [], total: 0, next: null, read: count });
  });

  it('by project leaves out workspaces that were moved away', async () => {
    const projectId = (await api.post(`${base}/projects`, { name: 'Passing' })).body.data.id;
    const moved = `${base}/workspaces/${all[0]}`;
    const to = (id: string) => api.patch(moved, {}, { project: { data: { type: 'projects', id } } });
    const home = (await api.get(moved)).body.data.relationships.project.data.id;
    await to(projectId);
    expect(await list(`filter[project][id]=${projectId}`)).toMatchObject({ names: [all[0]] });
    expect((await api.call('DELETE', `projects/${projectId}`)).status).toBe(409);
    await to(home);
    expect(await list(`filter[project][id]=${projectId}`)).toMatchObject({ names: [], read: 0 });
    // An interrupted move leaves its entry.
    const { id } = (await api.get(moved)).body.data;
    await table.put({
      ...keys.projectWorkspace(projectId, 'db-x'),
      workspaceId: id,
      projectId: projectId,
      name: 'db-x',
      tags: [],
    });
    expect(await list(`filter[project][id]=${projectId}`)).toMatchObject({ names: [] });
    expect((await api.call('DELETE', `projects/${projectId}`)).status).toBe(204);
  });
});

describe('projects and variable sets', () => {
  beforeAll(async () => {
    for (let i = 0; i < 30; i++) {
      await api.post(`${base}/projects`, { name: `project ${String(i).padStart(2, '0')}` });
      await api.post(`${base}/varsets`, { name: `Set ${String(i).padStart(2, '0')}`, global: i === 7 });
    }
  });

  it('are read page by page', async () => {
    const projects = await list('page[size]=10&page[number]=2', `${base}/projects`);
    expect(projects).toMatchObject({ total: 32, next: 3 });
    expect(projects.names.slice(0, 2)).toEqual(['project 08', 'project 09']);
    const sets = await list('page[size]=10', `${base}/varsets`);
    expect(sets).toMatchObject({ total: 30, next: 2, read: 10 + 11 });
    expect((await list('page[size]=10&page[number]=2', `${base}/varsets`)).read).toBe(10 + 11);
  });

  it('are found by name', async () => {
    expect(await list('filter[names]=project 03,Data,none', `${base}/projects`)).toMatchObject({
      names: ['Data', 'project 03'],
      read: 2 + 2,
    });
    expect((await list('q=T%2029', `${base}/projects`)).names).toEqual(['project 29']);
    expect((await list('q=set 0&page[size]=100', `${base}/varsets`)).names).toHaveLength(10);
    expect((await list('filter[global]=true', `${base}/varsets`)).names).toEqual(['Set 07']);
  });
});
