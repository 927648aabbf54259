import type { Run } from '../../functions/run/run.ts';
import type { Role } from '../../functions/store/access/organizations.ts';
import type { Api } from './api.ts';

/** The relationships of a new run. */
export const on = (id: string, version?: string) => ({
  workspace: { data: { type: 'workspaces', id } },
  ...(version ? { 'configuration-version': { data: { type: 'configuration-versions', id: version } } } : {}),
});

export const ids = (data: { id: string }[]) => data.map(({ id }) => id);

/** What tests of runs need again and again. */
export const runHelpers = async (api: Api) => {
  const store = await import('../../functions/store/runs/runs.ts');
  const { createUser } = await import('../../functions/store/access/users.ts');
  const { createToken } = await import('../../functions/store/access/tokens.ts');
  const { addMember } = await import('../../functions/store/access/organizations.ts');
  return {
    store,
    /** A workspace with a configuration. */
    ready: async (attributes: object = {}) => {
      const { id } = await api.workspace(attributes);
      return { id: id as string, version: (await api.configuration(id)).id as string };
    },
    /** The document of a new run. */
    create: async (workspaceId: string, attributes: object = {}) => {
      const answer = await api.post('runs', attributes, on(workspaceId));
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return answer.body.data;
    },
    /** Somebody else in the organization. */
    user: async (...roles: Role[]) => {
      const { id } = await createUser({ username: roles.join('-'), email: 'a@b.test' });
      await addMember('acme', id, roles);
      return { id, token: (await createToken(id, '')).secret };
    },
    /** As the machine would have brought it there. */
    bring: (id: string, set: Partial<Run> & Record<string, unknown>) => store.updateRun(id, { set }),
  };
};
