import type { Run } from '#run/run.ts';
import type { Api } from './api.ts';
import { type Level, memberHelpers } from './members.ts';

/** The relationships of a new run. */
export const on = (id: string, version?: string) => ({
  workspace: { data: { type: 'workspaces', id } },
  ...(version ? { 'configuration-version': { data: { type: 'configuration-versions', id: version } } } : {}),
});

export const ids = (data: { id: string }[]) => data.map(({ id }) => id);

/** Helpers for tests of runs. */
export const runHelpers = async (api: Api) => {
  const store = await import('#resources/runs/records.ts');
  const members = await memberHelpers();
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
    /** Another user in the organization, with that level on the workspaces of the default project. */
    user: (level: Level) => members.withLevel('acme', level),
    /** Sets the attributes that the machine would have written. */
    bring: (id: string, set: Partial<Run> & Record<string, unknown>) => store.updateRun(id, { set }),
  };
};
