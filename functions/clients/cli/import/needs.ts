import { type Resource, related, relatedIds } from '#clients/client/client.ts';
import { type Import, type Needs, nameOf } from './context.ts';
import { part, type Source } from './source.ts';

const idsOf = (resources: Resource[], name: string): Set<string> =>
  new Set(resources.flatMap((resource) => related(resource, name) ?? []));

/** Reads what the workspaces of these names use; 3 lists for each, and 2 requests for each of their projects. */
export const needsOf = async (source: Source, from: string, only: string[]): Promise<Needs> => {
  if (only.length === 0) return undefined;
  const workspaces = (await source.all(`/organizations/${from}/workspaces`)).filter((one) =>
    only.includes(nameOf(one)),
  );
  const projects: Resource[] = [];
  const grants: Resource[] = [];
  const tasks: Resource[] = [];
  for (const id of idsOf(workspaces, 'project')) {
    projects.push(await source.get(`/projects/${part(id)}`));
    grants.push(...(await source.allIfAny(`/team-projects?filter[project][id]=${part(id)}`)));
  }
  for (const { id } of workspaces) {
    grants.push(...(await source.allIfAny(`/team-workspaces?filter[workspace][id]=${part(id)}`)));
    tasks.push(...(await source.allIfAny(`/workspaces/${part(id)}/tasks`)));
  }
  return {
    workspaces: new Set(workspaces.map(({ id }) => id)),
    projects: new Set(projects.map(({ id }) => id)),
    pools: new Set([...idsOf(workspaces, 'agent-pool'), ...idsOf(projects, 'default-agent-pool')]),
    teams: idsOf(grants, 'team'),
    tasks: idsOf(tasks, 'task'),
  };
};

/** Those that are copied. */
export const needed = (resources: Resource[], needs: Needs, kind: keyof NonNullable<Needs>): Resource[] =>
  needs ? resources.filter(({ id }) => needs[kind].has(id)) : resources;

/** Whether a variable set or a policy set applies to a workspace that is copied. */
export const applies = ({ needs }: Pick<Import, 'needs'>, set: Resource): boolean => {
  if (!needs) return true;
  const parent = set.relationships?.parent?.data;
  const home = parent && !Array.isArray(parent) && parent.type === 'projects' ? parent.id : undefined;
  if (set.attributes.global === true) return home === undefined || needs.projects.has(home);
  return (
    relatedIds(set, 'workspaces').some((id) => needs.workspaces.has(id)) ||
    relatedIds(set, 'projects').some((id) => needs.projects.has(id))
  );
};
