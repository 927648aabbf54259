import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { go } from '#clients/web/location.ts';
import { useItems } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Choice, Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { change, changed, get, related } from '#clients/web/session.ts';
import { type Tag, tagsIn, textOfTags } from '#clients/web/text/tags.ts';
import { Execution, executionIn, executionOf } from './execution.tsx';

interface Props {
  workspace: Resource<'workspaces'>;
  organization: string;
  onChange(): void;
}

/** The form with a workspace's own settings. */
export const GeneralSettings = ({ workspace, organization, onChange }: Props) => {
  const saved = useSignal(false);
  // The workspace is polled; the form keeps its initial values.
  const basis = useSignal(workspace);
  const reloads = useSignal(0);
  const path = `/workspaces/${workspace.id}`;
  const isReadOnly = !workspace.attributes.permissions['can-update'];
  const submit = async (data: FormData) => {
    saved.value = false;
    const { name } = basis.value.attributes;
    const isConnected = workspace.attributes['vcs-repo'] !== null;
    const settings = { ...settingsIn(data, basis.value), ...(isConnected ? mergeSettingsIn(data) : {}) };
    const current = { ...basis.value.attributes, ...executionIn(basis.value) };
    const relationships = relationshipsIn(data, basis.value);
    basis.value = await change(path, 'workspaces', changed(settings, current), { relationships, basis: basis.value });
    saved.value = true;
    if (settings.name !== name) {
      go({ view: 'workspace', organization, workspace: settings.name, tab: 'settings' }, { replace: true });
    }
    onChange();
  };
  return (
    <>
      {isReadOnly && <p class="soft">Only admins of this workspace can change its settings.</p>}
      <Form
        key={reloads.value}
        submit="Save settings"
        readOnly={isReadOnly}
        onSubmit={submit}
        onReload={async () => {
          basis.value = await get(path);
          reloads.value++;
        }}
      >
        <Fields workspace={basis.value} organization={organization} />
        {workspace.attributes['vcs-repo'] && <MergeFields workspace={basis.value} />}
        {saved.value && <Notice kind="good">Saved.</Notice>}
      </Form>
    </>
  );
};

const Fields = ({ workspace, organization }: Omit<Props, 'onChange'>) => {
  const { attributes } = workspace;
  const projects = useItems(organization, 'projects', attributes.permissions['can-update']);
  return (
    <>
      <Text
        label="Name"
        name="name"
        required
        value={attributes.name}
        hint="Configurations refer to it in their cloud block."
      />
      <Text label="Description" name="description" value={attributes.description ?? ''} />
      {projects.length > 1 && (
        <Select
          label="Project"
          name="project"
          options={projects.map((project) => [project.id, project.name])}
          value={related(workspace, 'project')}
        />
      )}
      <Text
        label="Tags"
        name="tags"
        lines={3}
        value={textOfTags(attributes.tags)}
        hint="One per line, for example team = network, or critical."
      />
      <Text
        label="Terraform version"
        name="terraform-version"
        value={attributes['terraform-version']}
        hint="A version, a constraint such as ~> 1.11.0, or latest."
      />
      <Text
        label="Working directory"
        name="working-directory"
        value={attributes['working-directory'] ?? ''}
        placeholder="configuration root"
      />
      <Execution workspace={workspace} organization={organization} />
      <Choice
        name="auto-apply"
        label="Apply without confirmation"
        hint="Plans with changes are applied immediately if the user who queued the run has apply permission."
        checked={attributes['auto-apply']}
      />
      <Choice name="allow-destroy-plan" label="Allow destroy runs" checked={attributes['allow-destroy-plan']} />
      <Choice
        name="assessments-enabled"
        label="Assess health every 24 hours"
        hint="A plan that finds drift and failed checks. On AWS each uses a runner for one to three minutes."
        checked={attributes['assessments-enabled']}
      />
    </>
  );
};

const MergeFields = ({ workspace: { attributes } }: Pick<Props, 'workspace'>) => (
  <>
    <Choice
      name="apply-before-merge-enabled"
      label="Apply pull requests before the merge"
      hint="Their plans are saved. Comment “stepform apply” on the pull request to apply them."
      checked={attributes['apply-before-merge-enabled']}
    />
    <Choice
      name="requires-approved"
      label="Only once they are approved"
      checked={attributes['apply-before-merge-requirements'].includes('approved')}
    />
    <Choice
      name="requires-mergeable"
      label="Only without conflicts"
      checked={attributes['apply-before-merge-requirements'].includes('mergeable')}
    />
  </>
);

const settingsIn = (data: FormData, { attributes }: Resource<'workspaces'>) => ({
  name: textOf(data, 'name') ?? attributes.name,
  description: textOf(data, 'description') ?? null,
  'terraform-version': textOf(data, 'terraform-version') ?? 'latest',
  'working-directory': textOf(data, 'working-directory') ?? null,
  ...executionOf(data),
  'auto-apply': data.has('auto-apply'),
  'allow-destroy-plan': data.has('allow-destroy-plan'),
  'assessments-enabled': data.has('assessments-enabled'),
});

const mergeSettingsIn = (data: FormData) => ({
  'apply-before-merge-enabled': data.has('apply-before-merge-enabled'),
  'apply-before-merge-requirements': (['approved', 'mergeable'] as const).filter((requirement) =>
    data.has(`requires-${requirement}`),
  ),
});

const relationshipsIn = (data: FormData, workspace: Resource<'workspaces'>) => {
  const project = textOf(data, 'project');
  const moved = project && project !== related(workspace, 'project');
  return {
    ...(moved ? { project: { data: { type: 'projects', id: project } } } : {}),
    ...tagsFrom(textOf(data, 'tags') ?? '', workspace.attributes.tags),
  };
};

type WorkspaceTag = Resource<'workspaces'>['attributes']['tags'][number];

/** Undefined when unchanged. Plain tags stay plain; all others are tag bindings. */
const tagsFrom = (text: string, current: WorkspaceTag[]) => {
  const wanted = tagsIn(text, current);
  if (textOfTags(wanted) === textOfTags(current)) return undefined;
  const isPlain = ({ key, value }: Tag) => current.some((tag) => tag.plain && tag.key === key && value === '');
  return {
    tags: { data: wanted.filter(isPlain).map(({ key }) => ({ type: 'tags', attributes: { name: key } })) },
    'tag-bindings': {
      data: wanted.filter((tag) => !isPlain(tag)).map((attributes) => ({ type: 'tag-bindings', attributes })),
    },
  };
};
