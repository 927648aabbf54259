import type { Resource } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { type OrganizationProps, organizationNow } from '#clients/web/organization.ts';
import { Item, List, Tags } from '#clients/web/parts/list.tsx';
import { Managed, Single, type SingleAddress } from '#clients/web/parts/managed.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { all, get, related } from '#clients/web/session.ts';
import { type Tag, textOfTag } from '#clients/web/text/tags.ts';
import { TeamAccess } from '../people/team-access.tsx';
import { isOwnMode, ProjectFields, projectValues, type TaggedProject, tagsOf, withoutTags } from './projects.tsx';

interface ViewData {
  project: TaggedProject;
  workspaces: Resource<'workspaces'>[];
}

const load = async (organization: string, id: string): Promise<ViewData> => {
  const projectId = encodeURIComponent(id);
  const [project, workspaces] = await Promise.all([
    readTagged(projectId),
    all<'workspaces'>(
      `/organizations/${organization}/workspaces?filter[project][id]=${projectId}&filter[managed]=false`,
    ),
  ]);
  return { project, workspaces: workspaces.data };
};

/** With its tags as an attribute. Tags are read last, so that a concurrent edit is detected as a conflict. */
const readTagged = async (id: string): Promise<TaggedProject> => {
  const project = await get<'projects'>(`/projects/${id}`);
  const { data } = await all<'tag-bindings'>(`/projects/${id}/tag-bindings`);
  return { ...project, attributes: { ...project.attributes, tags: data.map(({ attributes }) => attributes) } };
};

export const ProjectView = (at: SingleAddress) => (
  <Single {...at} view="project" load={() => load(at.organization, at.id)} thing={({ project }) => project}>
    {(loaded, live) => <Project {...loaded} organization={at.organization} live={live} />}
  </Single>
);

const Project = (props: ViewData & OrganizationProps & { live: Live<ViewData> }) => {
  const { project, workspaces, organization, live } = props;
  const home = organizationNow(organization);
  const isDefault = related(home, 'default-project') === project.id;
  const { permissions, tags, 'default-execution-mode': mode } = project.attributes;
  const mayTag = permissions['can-manage-tags'];
  return (
    <>
      <Managed
        view="project"
        organization={organization}
        resource={project}
        mayChange={permissions['can-update']}
        mayDelete={permissions['can-destroy'] && !isDefault}
        valuesOf={projectValues}
        attributesOf={withoutTags}
        relationshipsOf={(data, current) => (mayTag ? tagsOf(data, (current as TaggedProject).attributes.tags) : {})}
        fields={() => (
          <ProjectFields tagged={mayTag} mode={mode} inherited={home?.attributes['default-execution-mode']} />
        )}
        read={() => readTagged(project.id)}
        consequence="Only a project without workspaces can be deleted."
        onChange={live.refresh}
      />
      <p class="row">
        <Tags of={(tags as Tag[]).map(textOfTag)} />
        <span class="soft">
          Execution mode: {mode}
          {!isOwnMode(project) && ' (organization default)'}.{isDefault && ' Default project for new workspaces.'}
        </span>
      </p>
      <div class="halves">
        <Section title="Workspaces">
          <List
            label="Workspaces"
            of={workspaces}
            none="No workspaces yet. Choose this project when you create a workspace, or in the workspace’s settings."
          >
            {({ id, attributes: { name, description } }) => (
              <Item
                key={id}
                to={{ view: 'workspace', organization, workspace: name, tab: 'overview' }}
                title={name}
                meta={description}
              />
            )}
          </List>
        </Section>
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
