import type { Resource } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { useOrganization } from '#clients/web/organization.ts';
import { Managed, Single } from '#clients/web/parts/managed.tsx';
import { all, get, related } from '#clients/web/session.ts';
import { type Tag, textOfTag } from '#clients/web/text/tags.ts';
import { TeamAccess } from '../people/team-access.tsx';
import { isOwnMode, ProjectFields, projectOf, type TaggedProject, tagsOf } from './projects.tsx';

interface ViewData {
  project: TaggedProject;
  workspaces: Resource<'workspaces'>[];
}

const load = async (organization: string, id: string): Promise<ViewData> => {
  const projectId = encodeURIComponent(id);
  const [project, workspaces] = await Promise.all([
    readTagged(projectId),
    all<'workspaces'>(`/organizations/${organization}/workspaces?filter[project][id]=${projectId}`),
  ]);
  return { project, workspaces: workspaces.data };
};

/** With its tags as an attribute. Tags are read last, so that a concurrent edit is detected as a conflict. */
const readTagged = async (id: string): Promise<TaggedProject> => {
  const project = await get<'projects'>(`/projects/${id}`);
  const { data } = await all<'tag-bindings'>(`/projects/${id}/tag-bindings`);
  return { ...project, attributes: { ...project.attributes, tags: data.map(({ attributes }) => attributes) } };
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
      {(loaded, live) => <Project {...loaded} organization={organization} live={live} />}
    </Single>
  );
};

const Project = ({
  project,
  workspaces,
  organization,
  live,
}: ViewData & { organization: string; live: Live<ViewData> }) => {
  const home = useOrganization(organization);
  const isDefault = related(home, 'default-project') === project.id;
  const { permissions, tags, 'default-execution-mode': mode } = project.attributes;
  const mayTag = permissions['can-manage-tags'];
  return (
    <>
      <Managed
        what="project"
        thing={project}
        list={{ view: 'projects', organization }}
        mayChange={permissions['can-update']}
        mayDelete={permissions['can-destroy'] && !isDefault}
        attributesOf={projectOf}
        relationshipsOf={(data, basis) => (mayTag ? tagsOf(data, basis.attributes.tags) : {})}
        fields={(basis) => (
          <ProjectFields project={basis} tagged={mayTag} inherited={home?.attributes['default-execution-mode']} />
        )}
        read={() => readTagged(project.id)}
        consequence="Only a project without workspaces can be deleted."
        onChange={live.refresh}
      />
      <p class="row">
        {(tags as Tag[]).map((tag) => (
          <span key={tag.key} class="tag">
            {textOfTag(tag)}
          </span>
        ))}
        <span class="soft">
          Execution mode: {mode}
          {!isOwnMode(project) && ' (organization default)'}.{isDefault && ' Default project for new workspaces.'}
        </span>
      </p>
      <div class="halves">
        <section class="stack" aria-label="Workspaces">
          <h2>Workspaces</h2>
          {workspaces.length === 0 ? (
            <p class="panel pad soft">
              No workspaces yet. Choose this project when you create a workspace, or in the workspace’s settings.
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
