import { expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

const api = await startApi();

interface Tag {
  id: string;
  attributes: { name: string; 'instance-count': number };
}

const tag = (...names: string[]) => ({ data: names.map((name) => ({ type: 'tags', attributes: { name } })) });
const organization = async () => {
  const name = uniqueName('tags');
  await api.post('organizations', { name, email: 'a@b.test' });
  const workspace = async (...tags: string[]): Promise<string> =>
    (await api.post(`organizations/${name}/workspaces`, { name: uniqueName('ws') }, { tags: tag(...tags) })).body.data
      .id;
  const tags = async (query = '', token = api.token): Promise<Tag[]> =>
    (await api.get(`organizations/${name}/tags?page[size]=100${query}`, { token })).body.data;
  const counts = async (query = '', token = api.token) =>
    (await tags(query, token)).map(({ attributes }) => `${attributes.name} ${attributes['instance-count']}`);
  return { name, workspace, tags, counts };
};
const namesOf = async (id: string): Promise<string[]> =>
  (await api.get(`workspaces/${id}`)).body.data.attributes['tag-names'];
const ids = (type: string, ...all: string[]) => ({ data: all.map((id) => ({ type, id })) });

it('the list of tags counts their workspaces, and can be searched', async () => {
  const home = await organization();
  await home.workspace('net', 'prod');
  const other = await home.workspace('net', 'test');
  expect(await home.counts()).toEqual(['net 2', 'prod 1', 'test 1']);
  expect(await home.counts('&q=T')).toEqual(['net 2', 'test 1']);
  expect(await home.counts(`&filter[exclude][taggable][id]=${other}`)).toEqual(['prod 1']);
  expect((await api.get(`organizations/${home.name}/tags?filter[name]=net`)).status).toBe(400);
});

it('the list shows a member only the tags of workspaces they can read', async () => {
  const { grant } = await import('#resources/teams/grants.ts');
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  const home = await organization();
  await home.workspace('secret', 'shared');
  const visible = await getWorkspace(await home.workspace('shared'));
  const member = await (await memberHelpers()).withFlags(home.name);
  expect(await home.counts('', member.token)).toEqual([]);
  if (!visible) throw new Error('gone');
  await grant({ workspace: visible }, member.team.id, { access: 'read' });
  expect(await home.counts('', member.token)).toEqual(['shared 1']);
});

it('a deletion removes tags from every workspace, or from none when one is unknown', async () => {
  const home = await organization();
  const [a, b] = [await home.workspace('x', 'y'), await home.workspace('y', 'z')];
  const byName = Object.fromEntries((await home.tags()).map(({ id, attributes }) => [attributes.name, id]));
  const path = `organizations/${home.name}/tags`;
  const refused = await api.call('DELETE', path, { body: ids('tags', byName.y ?? '', 'tag-unknown') });
  expect([refused.status, refused.body.errors[0].source]).toEqual([422, { pointer: '/data/1/id' }]);
  expect(await home.counts()).toEqual(['x 1', 'y 2', 'z 1']);
  expect((await api.call('DELETE', path, { body: ids('tags', byName.y ?? '', byName.z ?? '') })).status).toBe(204);
  expect(await home.counts()).toEqual(['x 1']);
  expect([await namesOf(a), await namesOf(b)]).toEqual([['x'], []]);
});

it('a tag is added to several workspaces, or to none', async () => {
  const home = await organization();
  await home.workspace('tagged');
  const [{ id: tagId } = { id: '' }] = await home.tags();
  const [a, b] = [await home.workspace(), await home.workspace('own')];
  const elsewhere = (await api.workspace()).id;
  const path = `tags/${tagId}/relationships/workspaces`;
  const mixed = await api.call('POST', path, { body: ids('workspaces', a, elsewhere) });
  expect([mixed.status, mixed.body.errors[0].source]).toEqual([422, { pointer: '/data/1/id' }]);
  expect((await api.call('POST', path, { body: ids('workspaces', elsewhere) })).status).toBe(404);
  expect(await namesOf(a)).toEqual([]);
  expect((await api.call('POST', path, { body: ids('workspaces', a, b) })).status).toBe(204);
  expect([await namesOf(a), await namesOf(b)]).toEqual([['tagged'], ['own', 'tagged']]);
});
