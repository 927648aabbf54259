import { useSignal } from '@preact/signals';
import type { Resource } from '../../cli/client.ts';
import { type Live, useLive } from '../live.ts';
import { go, hrefOf } from '../location.ts';
import { useOrganization } from '../organization.ts';
import { Loaded } from '../parts/basics.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Titled } from '../parts/head.tsx';
import { Shell } from '../parts/shell.tsx';
import { all, call, change, get, related } from '../session.ts';
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
  const live = useLive(
    `project/${id}`,
    () => load(organization, id),
    () => 15_000,
  );
  const name = live.value?.project.attributes.name;
  return (
    <Shell
      title={name ?? 'Project'}
      crumbs={[
        { text: organization, to: { view: 'workspaces', organization } },
        { text: 'Projects', to: { view: 'projects', organization } },
        { text: name ?? id },
      ]}
    >
      <Loaded live={live} what="project">
        {(known) => <Project {...known} organization={organization} live={live} />}
      </Loaded>
    </Shell>
  );
};

const Project = ({ project, workspaces, organization, live }: Known & { organization: string; live: Live<Known> }) => {
  const asking = useSignal<'change' | 'delete' | undefined>(undefined);
  const isDefault = related(useOrganization(organization), 'default-project') === project.id;
  const { name, description, permissions } = project.attributes;
  const close = () => {
    asking.value = undefined;
  };
  return (
    <>
      <Titled
        title={name}
        description={description}
        onEdit={permissions['can-update'] && (() => (asking.value = 'change'))}
        onDelete={permissions['can-destroy'] && !isDefault && (() => (asking.value = 'delete'))}
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
      {asking.value === 'change' && (
        <Dialog title={`Change ${name}`} onClose={close}>
          <Form
            submit="Save"
            onCancel={close}
            onSubmit={async (data) => {
              await change(`/projects/${project.id}`, 'projects', projectOf(data));
              close();
              live.refresh();
            }}
          >
            <ProjectFields project={project} />
          </Form>
        </Dialog>
      )}
      {asking.value === 'delete' && (
        <Confirm
          title={`Delete ${name}?`}
          yes="Delete project"
          onYes={async () => {
            await call('DELETE', `/projects/${project.id}`);
            go({ view: 'projects', organization });
          }}
          onClose={close}
        >
          <p>Only a project without workspaces can be deleted.</p>
        </Confirm>
      )}
    </>
  );
};
