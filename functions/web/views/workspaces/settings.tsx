import { useSignal } from '@preact/signals';
import type { Resource } from '../../../client/client.ts';
import { count } from '../../../client/text/time.ts';
import { go } from '../../location.ts';
import { useItems } from '../../organization.ts';
import { Notice } from '../../parts/basics.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Choice, Form, Select, Text, textOf } from '../../parts/form.tsx';
import { call, change, changed, get, related } from '../../session.ts';
import { TeamAccess } from '../people/team-access.tsx';
import { WorkspaceTasks } from '../run-tasks/workspace-tasks.tsx';
import { RunTriggers } from '../runs/run-triggers.tsx';
import { Repository } from '../version-control/repository.tsx';
import { AutoDestroy } from './auto-destroy.tsx';
import { Execution, executionIn, executionOf } from './execution.tsx';
import { Notifications } from './notifications.tsx';

const tagsOf = (text: string | undefined): string[] => (text ?? '').split(/[\s,]+/).filter(Boolean);

/** How a workspace runs, and its end. */
export const Settings = ({
  workspace,
  organization,
  onChange,
}: {
  workspace: Resource<'workspaces'>;
  organization: string;
  onChange(): void;
}) => {
  const saved = useSignal(false);
  // The workspace is asked for again all the time; the form goes on showing what it began with.
  const basis = useSignal(workspace);
  const reloads = useSignal(0);
  const { attributes } = basis.value;
  const { permissions } = workspace.attributes;
  const projects = useItems(organization, 'projects', permissions['can-update']);
  const path = `/workspaces/${workspace.id}`;
  const submit = async (data: FormData) => {
    saved.value = false;
    const name = textOf(data, 'name') ?? attributes.name;
    const project = textOf(data, 'project');
    const followed = workspace.attributes['vcs-repo'] !== null;
    const settings = {
      name,
      description: textOf(data, 'description') ?? null,
      'terraform-version': textOf(data, 'terraform-version') ?? 'latest',
      'working-directory': textOf(data, 'working-directory') ?? null,
      ...executionOf(data),
      'auto-apply': data.has('auto-apply'),
      'allow-destroy-plan': data.has('allow-destroy-plan'),
      'assessments-enabled': data.has('assessments-enabled'),
      ...(followed
        ? {
            'apply-before-merge-enabled': data.has('apply-before-merge-enabled'),
            'apply-before-merge-requirements': (['approved', 'mergeable'] as const).filter((one) =>
              data.has(`requires-${one}`),
            ),
          }
        : {}),
    };
    const moved = project && project !== related(basis.value, 'project');
    const tags = await tagsFor(basis.value, tagsOf(textOf(data, 'tags')));
    const relationships = {
      ...(moved ? { project: { data: { type: 'projects', id: project } } } : {}),
      ...(tags ? { 'tag-bindings': { data: tags } } : {}),
    };
    const current = { ...attributes, ...executionIn(basis.value) };
    basis.value = await change(path, 'workspaces', changed(settings, current), { relationships, basis: basis.value });
    saved.value = true;
    if (name !== attributes.name) {
      go({ view: 'workspace', organization, workspace: name, tab: 'settings' }, { replace: true });
    }
    onChange();
  };
  return (
    <div class="halves">
      <section class="panel pad stack">
        {!permissions['can-update'] && <p class="soft">Only admins of this workspace can change its settings.</p>}
        <Form
          key={reloads.value}
          submit="Save settings"
          readOnly={!permissions['can-update']}
          onSubmit={submit}
          onReload={async () => {
            basis.value = await get(path);
            reloads.value++;
          }}
        >
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
              options={projects.map((one) => [one.id, one.name])}
              value={related(workspace, 'project')}
            />
          )}
          <Text label="Tags" name="tags" value={attributes['tag-names'].join(' ')} hint="Separated by spaces." />
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
          <Execution workspace={basis.value} organization={organization} />
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
            hint="A plan that finds drift and failed checks. On AWS each takes a runner for one to three minutes."
            checked={attributes['assessments-enabled']}
          />
          {workspace.attributes['vcs-repo'] && (
            <Choice
              name="apply-before-merge-enabled"
              label="Apply pull requests before the merge"
              hint="Their plans are saved. Comment “stepform apply” on the pull request to apply them."
              checked={attributes['apply-before-merge-enabled']}
            />
          )}
          {workspace.attributes['vcs-repo'] && (
            <>
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
          )}
          {saved.value && <Notice kind="good">Saved.</Notice>}
        </Form>
      </section>
      <div class="stack">
        <Repository workspace={workspace} organization={organization} onChange={onChange} />
        <WorkspaceTasks workspace={workspace} organization={organization} />
        {permissions['can-manage-ephemeral-workspaces'] && <AutoDestroy workspace={workspace} onChange={onChange} />}
        {permissions['can-update'] && <Notifications workspace={workspace} />}
        <RunTriggers workspace={workspace} organization={organization} />
        {permissions['can-update'] && <TeamAccess what="workspace" id={workspace.id} organization={organization} may />}
        {permissions['can-destroy'] && <Danger workspace={workspace} organization={organization} />}
      </div>
    </div>
  );
};

/** Bindings are replaced as a whole, and those with a value keep it. Undefined when they stay as they are. */
const tagsFor = async (workspace: Resource<'workspaces'>, tagNames: string[]) => {
  const current: string[] = workspace.attributes['tag-names'];
  if (tagNames.length === current.length && tagNames.every((tag) => current.includes(tag))) return undefined;
  const { data } = await call<Resource[]>('GET', `/workspaces/${workspace.id}/relationships/tag-bindings`);
  const values = new Map(data.map(({ attributes }) => [attributes.key, attributes.value]));
  return tagNames.map((key) => ({ type: 'tag-bindings', attributes: { key, value: values.get(key) ?? '' } }));
};

const Danger = ({ workspace, organization }: { workspace: Resource<'workspaces'>; organization: string }) => {
  const asking = useSignal(false);
  const { name, 'resource-count': resources } = workspace.attributes;
  const remove = async (data: FormData) => {
    const path = `/workspaces/${workspace.id}`;
    await (data.has('force') ? call('DELETE', path) : call('POST', `${path}/actions/safe-delete`, {}));
    go({ view: 'workspaces', organization });
  };
  return (
    <section class="panel pad stack">
      <h2>Delete this workspace</h2>
      <p class="soft">
        Its runs, variables and states can be recovered for seven days, in the settings of the organization. Real
        infrastructure stays: queue a destroy run first to remove it.
      </p>
      <div>
        <button type="button" class="danger" onClick={() => (asking.value = true)}>
          Delete workspace
        </button>
      </div>
      {asking.value && (
        <Confirm
          title={`Delete ${name}?`}
          yes="Delete"
          typed={name}
          onYes={remove}
          onClose={() => (asking.value = false)}
        >
          {resources > 0 && (
            <>
              <Notice kind="warn">
                Its state manages <strong>{count(resources, 'resource')}</strong>. Without the state, Terraform can no
                longer change or destroy them.
              </Notice>
              <Choice name="force" label="Delete it even though it manages resources" />
            </>
          )}
        </Confirm>
      )}
    </section>
  );
};
