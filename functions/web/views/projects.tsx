import { useSignal } from '@preact/signals';
import type { Resource } from '../../cli/client.ts';
import { useLive } from '../live.ts';
import { go, hrefOf } from '../location.ts';
import { may } from '../organization.ts';
import { Loaded } from '../parts/basics.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Form, Text, textOf } from '../parts/form.tsx';
import { Head } from '../parts/head.tsx';
import { OrganizationShell } from '../parts/organization-shell.tsx';
import { all, create } from '../session.ts';

/** Workspaces that belong together: of one team, of one product. */
export const Projects = ({ organization }: { organization: string }) => {
  const live = useLive(
    `project-list/${organization}`,
    async () => (await all(`/organizations/${organization}/projects`)).data,
    () => 30_000,
  );
  const adding = useSignal(false);
  return (
    <OrganizationShell organization={organization} at="projects">
      <Head
        title="Projects"
        add="New project"
        onAdd={may(organization, 'can-create-project') && (() => (adding.value = true))}
      />
      <Loaded live={live} what="projects">
        {(projects) => (
          <ul class="panel list" aria-label="Projects">
            {projects.map(({ id, attributes }) => (
              <li key={id}>
                <a class="item" href={hrefOf({ view: 'project', organization, id })}>
                  <span class="title">{attributes.name}</span>
                  <span class="meta">{attributes.description}</span>
                </a>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {adding.value && <NewProject organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

const NewProject = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const submit = async (data: FormData) => {
    const project = await create(`/organizations/${organization}/projects`, 'projects', projectOf(data));
    go({ view: 'project', organization, id: project.id });
  };
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form submit="Create project" onSubmit={submit} onCancel={onClose}>
        <ProjectFields />
      </Form>
    </Dialog>
  );
};

export const ProjectFields = ({ project }: { project?: Resource }) => (
  <>
    <Text label="Name" name="name" required autoFocus={!project} value={project?.attributes.name} />
    <Text label="Description" name="description" value={project?.attributes.description ?? ''} />
  </>
);

export const projectOf = (data: FormData) => ({
  name: textOf(data, 'name'),
  description: textOf(data, 'description') ?? '',
});
