import { expect, it } from 'vitest';
import { startEnvironments } from './support.ts';

/** Names of environments and templates in the organization's audit trail, also of deleted ones. */

const world = await startEnvironments();

interface Entry {
  resource: { type: string; id: string; action: string; meta: { name?: string; workspace?: string } };
}

it('events keep the names of environments, builds and templates after their deletion', async () => {
  const template = await world.addTemplate();
  const id = await world.running(template);
  const { name } = await world.environmentOf(id);
  await world.call('PUT', `/workspaces/${id}/ttl`, { body: { ttl_ms: 7_200_000 } });
  await world.build(id, 'delete');
  await world.end(id);
  expect((await world.call('DELETE', `/templates/${template.id}`)).status).toBe(200);
  const query = 'organization/audit-trail?filter[organization][name]=acme&include=names&page[size]=1000';
  const { status, body } = await world.api.get(query);
  expect(status).toBe(200);
  const named = (body.data as Entry[]).map(({ resource: { type, action, meta } }) => [type, action, meta.name]);
  expect(named).toEqual(
    expect.arrayContaining([
      ['workspace', 'create', `owner/${name}`],
      ['workspace', 'update_ttl', `owner/${name}`],
      // Of the request, and of the end.
      ['workspace_build', 'delete', `owner/${name}`],
      ['workspace_build', 'delete', `owner/${name} #2`],
      ['template', 'delete', template.name],
    ]),
  );
  // An environment is no workspace that the page could link to.
  expect((body.data as Entry[]).filter(({ resource }) => resource.id === id && resource.meta.workspace)).toEqual([]);
});
