import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { knowOrganization } from '#clients/web/organization.ts';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { Choice, Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { call, change, changed, get } from '#clients/web/session.ts';
import { ProviderSets } from '../provider-sets/provider-sets.tsx';
import { DeletedWorkspaces } from '../workspaces/deleted-workspaces.tsx';
import { OrganizationTokens } from './organization-tokens.tsx';

export const OrganizationSettings = ({ organization }: { organization: string }) => {
  const live = useLive(
    `settings/${organization}`,
    () => get<'organizations'>(`/organizations/${organization}`),
    () => undefined,
  );
  return (
    <OrganizationShell organization={organization} at="organization-settings">
      <h1>Settings of {organization}</h1>
      <Loaded live={live} what="organization">
        {(value) => (
          <div class="stack narrow">
            <General organization={value} />
            {value.attributes.permissions['can-update-authentication-token'] && (
              <OrganizationTokens organization={value.id} />
            )}
            {value.attributes.permissions['can-manage-provider-sets'] && <ProviderSets organization={value.id} />}
            <DeletedWorkspaces organization={value.id} />
            {value.attributes.permissions['can-destroy'] && <Danger name={value.id} />}
          </div>
        )}
      </Loaded>
    </OrganizationShell>
  );
};

const General = ({ organization }: { organization: Resource<'organizations'> }) => {
  const saved = useSignal(false);
  const basis = useSignal(organization);
  const reloads = useSignal(0);
  const { attributes, id } = basis.value;
  const mayUpdate = attributes.permissions['can-update'];
  const submit = async (data: FormData) => {
    saved.value = false;
    const settings = {
      email: textOf(data, 'email'),
      'default-execution-mode': data.get('default-execution-mode'),
      'cost-estimation-enabled': data.has('cost-estimation-enabled'),
      'pull-request-comments-enabled': data.has('pull-request-comments-enabled'),
      'assessments-enforced': data.has('assessments-enforced'),
      'allow-force-delete-workspaces': data.has('allow-force-delete-workspaces'),
    };
    const path = `/organizations/${id}`;
    basis.value = await change(path, 'organizations', changed(settings, attributes), { basis: basis.value });
    knowOrganization(basis.value);
    saved.value = true;
  };
  return (
    <section class="panel pad stack">
      {!mayUpdate && <p class="soft">Only owners can change the settings of {id}.</p>}
      <Form
        key={reloads.value}
        submit="Save settings"
        readOnly={!mayUpdate}
        onSubmit={submit}
        onReload={async () => {
          basis.value = await get(`/organizations/${id}`);
          reloads.value++;
        }}
      >
        <Text
          label="E-mail"
          name="email"
          required
          value={attributes.email}
          hint="Contact address of the organization."
        />
        <Select
          label="Default execution mode"
          name="default-execution-mode"
          // The agent pool is set through the API; the form keeps it.
          options={[...new Set(['remote', 'local', attributes['default-execution-mode']])]}
          value={attributes['default-execution-mode']}
          hint="Used for projects and workspaces without their own setting. Local: Terraform runs on your machine, and only the state is stored here."
        />
        <Choice
          name="cost-estimation-enabled"
          label="Estimate costs"
          hint="Shows the monthly cost of each plan. Never fails a run."
          checked={attributes['cost-estimation-enabled']}
        />
        <Choice
          name="pull-request-comments-enabled"
          label="Show plans in a comment on pull requests"
          hint="Counts, costs and policies, for everyone who can read the repository. Never values."
          checked={attributes['pull-request-comments-enabled']}
        />
        <Choice
          name="assessments-enforced"
          label="Assess the health of all workspaces"
          hint="Every 24 hours in every workspace, regardless of its own setting. On AWS each assessment uses a runner for one to three minutes."
          checked={attributes['assessments-enforced']}
        />
        <Choice
          name="allow-force-delete-workspaces"
          label="Allow workspace admins to delete workspaces that manage resources"
          hint="Otherwise, only owners can."
          checked={attributes['allow-force-delete-workspaces']}
        />
        {saved.value && <Notice kind="good">Saved.</Notice>}
      </Form>
    </section>
  );
};

const Danger = ({ name }: { name: string }) => {
  const asking = useSignal(false);
  const remove = async () => {
    await call('DELETE', `/organizations/${name}`);
    go({ view: 'home' });
  };
  return (
    <section class="panel pad stack">
      <h2>Delete this organization</h2>
      <p class="soft">
        Delete its workspaces first. Projects, variable sets, policies and run tasks are deleted with it.
      </p>
      <div>
        <button type="button" class="danger" onClick={() => (asking.value = true)}>
          Delete organization
        </button>
      </div>
      {asking.value && (
        <Confirm
          title={`Delete ${name}?`}
          yes="Delete permanently"
          typed={name}
          onYes={remove}
          onClose={() => (asking.value = false)}
        >
          <p>This cannot be undone.</p>
        </Confirm>
      )}
    </section>
  );
};
