import type { Api, Sent } from '#test/support/api.ts';
import { uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** An address outside of every list. */
export const elsewhere = '198.51.100.9';
/** The default address of the tests. */
export const office = '192.0.2.1';

export const makeOrganization = async (api: Api) => {
  const members = await memberHelpers();
  const name = uniqueName('closed');
  await api.post('organizations', { name, email: 'a@b.test' });
  const { id: workspace } = (await api.post(`organizations/${name}/workspaces`, { name: 'w' })).body.data;
  const addList = async (scope: string, range?: string, attributes: object = {}): Promise<string> => {
    const made = await api.post(`organizations/${name}/cidr-range-lists`, {
      name: uniqueName('list'),
      'enforcement-scope': scope,
      ...attributes,
    });
    const id = made.body.data?.id;
    if (!id) throw new Error(JSON.stringify(made.body));
    if (range) await addRange(id, range);
    return id;
  };
  const addRange = (list: string, range: string, attributes: object = {}, sent?: Sent) =>
    api.post(`cidr-range-lists/${list}/relationships/cidr-ranges`, { range, ...attributes }, undefined, sent);
  return { name, workspace: workspace as string, members, addList, addRange };
};

export const statusFrom = async (api: Api, path: string, address: string, token = api.token): Promise<number> =>
  (await api.get(path, { token, address })).status;
