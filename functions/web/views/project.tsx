import type { Resource } from '../../cli/client.ts';
import type { Live } from '../live.ts';
import { hrefOf } from '../location.ts';
import { useOrganization } from '../organization.ts';
import { Managed, Single } from '../parts/managed.tsx';
import { all, get, related } from '../session.ts';
import { ProjectFields, projectOf } from './projects.tsx';
import { TeamAccess } from './team-access.tsx';

interface Known {
  project: Resource;
  workspaces: Resource[];
}

const load = async (organization: string, id: string): Promise<Known> => {
  const wanted = encodeURIComponent(id);
  const [project, workspaces] = await Promise.all([
    get(`/projects/${wanted}`),
    all(`/organizations/${organization}/workspaces?filter[project][id]=${wanted}`),
  ]);
  return { project, workspaces: workspaces.data };
};

export const ProjectView = ({ organization, id }: { organization: string; id: string }) => {
  return (
    <Single
      what="project"
      id={id}
      organization={organization}
      list={{ text: 'Projects', to: { view: 'projects', organization } }}
      load={() => load(organization, id)}
      thing={({ project }) => project}
    >
      {(known, live) => <Project {...known} organization={organization} live={live} />}
    </Single>
  );
};

const Project = ({ project, workspaces, organization, live }: Known & { organization: string; live: Live<Known> }) => {
  const isDefault = related(useOrganization(organization), 'default-project') === project.id;
  const { permissions } = project.attributes;
  return (
    <>
      <Managed
        what="project"
        thing={project}
        list={{ view: 'projects', organization }}
        mayChange={permissions['can-update']}
        mayDelete={permissions['can-destroy'] && !isDefault}
        attributesOf={projectOf}
        fields={<ProjectFields project={project} />}
        consequence="Only a project without workspaces can be deleted."
        onChange={live.refresh}
      />
      {isDefault && <p class="soft">New workspaces belong to it unless another project is chosen.</p>}
      <div class="halves">
        <section class="stack" aria-label="Workspaces">
          <h2>Workspaces</h2>
          {workspaces.length === 0 ? (
            <p class="panel pad soft">
              There are none. A workspace is put here when it is made, or in its settings
              {permissions['can-create-workspace'] ? '' : ', by who may'}.
            </p>
          ) : (
            <ul class="panel list" aria-label="Workspaces">
              {workspaces.map(({ id, attributes }) => (
                <li key={id}>
                  <a
                    class="item"
                    href={hrefOf({ view: 'workspace', organization, workspace: attributes.name, tab: 'overview' })}
                  >
                    <span class="title">{attributes.name}</span>
                    <span class="meta">{attributes.description}</span>
                  </a>
                </li>
              ))}
            </ul>
          )}
        </section>
        {permissions['can-read-teams'] && (
          <TeamAccess
            what="project"
            id={project.id}
            organization={organization}
            may={permissions['can-manage-teams']}
          />
        )}
      </div>
    </>
  );
};
