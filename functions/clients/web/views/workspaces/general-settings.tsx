import type { Resource } from '#clients/client/client.ts';
import { go } from '#clients/web/location.ts';
import { useItems, type WorkspaceProps } from '#clients/web/organization.ts';
import { Choice, Select, Text, textOf, type Values } from '#clients/web/parts/fields.tsx';
import { SettingsForm } from '#clients/web/parts/settings-form.tsx';
import { related } from '#clients/web/session.ts';
import { type Tag, tagsIn, textOfTags } from '#clients/web/text/tags.ts';
import { Execution, executionIn } from './execution.tsx';

type Workspace = Resource<'workspaces'>;

/** The form with a workspace's own settings. */
export const GeneralSettings = ({ workspace, organization, onChange }: WorkspaceProps & { onChange(): void }) => {
  const isReadOnly = !workspace.attributes.permissions['can-update'];
  const follow = (saved: Workspace, before: Workspace) => {
    const { name } = saved.attributes;
    if (name !== before.attributes.name) {
      go({ view: 'workspace', organization, workspace: name, tab: 'settings' }, { replace: true });
    }
    onChange();
  };
  return (
    <>
      {isReadOnly && <p class="soft">Only admins of this workspace can change its settings.</p>}
      <SettingsForm
        resource={workspace}
        path={`/workspaces/${workspace.id}`}
        readOnly={isReadOnly}
        valuesOf={valuesOf}
        attributesOf={attributesOf}
        relationshipsOf={relationshipsIn}
        onSaved={follow}
      >
        {(current) => (
          <>
            <Fields workspace={current} organization={organization} />
            {workspace.attributes['vcs-repo'] && <MergeFields workspace={current} />}
          </>
        )}
      </SettingsForm>
    </>
  );
};

/** Requirements of an apply before the merge, each with a box. */
const requirements = ['approved', 'mergeable'] as const;

const valuesOf = (workspace: Workspace): Values => ({
  ...workspace.attributes,
  ...executionIn(workspace),
  tags: textOfTags(workspace.attributes.tags),
});

/** Tags and the project are relationships. */
const attributesOf = ({ tags, project, ...fields }: Values): Values => {
  const { 'requires-approved': approved, 'requires-mergeable': mergeable, ...settings } = fields;
  const isConnected = approved !== undefined;
  const required = requirements.filter((requirement) => ({ approved, mergeable })[requirement]);
  return {
    'agent-pool-id': null,
    ...settings,
    'terraform-version': settings['terraform-version'] ?? 'latest',
    ...(isConnected ? { 'apply-before-merge-requirements': required } : {}),
  };
};

const Fields = ({ workspace, organization }: WorkspaceProps) => {
  const projects = useItems(organization, 'projects', workspace.attributes.permissions['can-update']);
  return (
    <>
      <Text label="Name" name="name" required hint="Configurations refer to it in their cloud block." />
      <Text label="Description" name="description" />
      {projects.length > 1 && (
        <Select
          label="Project"
          name="project"
          options={projects.map((project) => [project.id, project.name])}
          value={related(workspace, 'project')}
        />
      )}
      <Text label="Tags" name="tags" lines={3} hint="One per line, for example team: network, or critical." />
      <Text
        label="Terraform version"
        name="terraform-version"
        hint="A version, a constraint such as ~> 1.11.0, or latest."
      />
      <Text label="Working directory" name="working-directory" placeholder="configuration root" />
      <Execution workspace={workspace} organization={organization} />
      <Choice
        name="auto-apply"
        label="Apply without confirmation"
        hint="Plans with changes are applied immediately if the user who queued the run has apply permission."
      />
      <Choice name="allow-destroy-plan" label="Allow destroy runs" />
      <Choice
        name="assessments-enabled"
        label="Assess health every 24 hours"
        hint="A plan that finds drift and failed checks. On AWS each uses a runner for one to three minutes."
      />
    </>
  );
};

const MergeFields = ({ workspace: { attributes } }: Pick<WorkspaceProps, 'workspace'>) => (
  <>
    <Choice
      name="apply-before-merge-enabled"
      label="Apply pull requests before the merge"
      hint="Their plans are saved. Comment “stepform apply” on the pull request to apply them."
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

const relationshipsIn = (data: FormData, workspace: Workspace | undefined) => {
  const project = textOf(data, 'project');
  const moved = project && project !== related(workspace, 'project');
  return {
    ...(moved ? { project: { data: { type: 'projects', id: project } } } : {}),
    ...tagsFrom(textOf(data, 'tags') ?? '', workspace?.attributes.tags ?? []),
  };
};

type WorkspaceTag = Workspace['attributes']['tags'][number];

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
