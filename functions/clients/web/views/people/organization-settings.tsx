import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { knowOrganization, type OrganizationProps } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { ConfirmButton, FormButton } from '#clients/web/parts/dialog.tsx';
import { Choice, Name, Select, Text, type Values } from '#clients/web/parts/fields.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { SettingsForm } from '#clients/web/parts/settings-form.tsx';
import { call, change, get } from '#clients/web/session.ts';
import { ProviderSets } from '../provider-sets/provider-sets.tsx';
import { DeletedWorkspaces } from '../workspaces/deleted-workspaces.tsx';
import { OrganizationTokens } from './organization-tokens.tsx';
import { SlackApp } from './slack-app.tsx';

export const OrganizationSettings = ({ organization }: OrganizationProps) => {
  const live = useLive(`settings/${organization}`, () => get<'organizations'>(`/organizations/${organization}`));
  return (
    <OrganizationShell organization={organization} at="organization-settings" title={`Settings of ${organization}`}>
      <Loaded live={live} what="organization">
        {(value) => (
          <div class="stack narrow">
            <General organization={value} />
            {value.attributes.permissions['can-update-authentication-token'] && (
              <OrganizationTokens organization={value.id} />
            )}
            {value.attributes.permissions['can-manage-provider-sets'] && <ProviderSets organization={value.id} />}
            <DeletedWorkspaces organization={value.id} />
            {value.attributes.permissions['can-update'] && <SlackApp organization={value.id} />}
            {value.attributes.permissions['can-update'] && <Rename organization={value} />}
            {value.attributes.permissions['can-destroy'] && <Danger name={value.id} />}
          </div>
        )}
      </Loaded>
    </OrganizationShell>
  );
};

const General = ({ organization }: { organization: Resource<'organizations'> }) => {
  const { id } = organization;
  const mayUpdate = organization.attributes.permissions['can-update'];
  return (
    <section class="panel pad stack">
      {!mayUpdate && <p class="soft">Only owners can change the settings of {id}.</p>}
      <SettingsForm
        resource={organization}
        path={`/organizations/${id}`}
        readOnly={!mayUpdate}
        onSaved={knowOrganization}
      >
        {({ attributes }) => (
          <>
            <Text label="E-mail" name="email" required hint="Contact address of the organization." />
            <Select
              label="Default execution mode"
              name="default-execution-mode"
              // The agent pool is set through the API; the form keeps it.
              options={[...new Set(['remote', 'local', attributes['default-execution-mode']])]}
              hint="Used for projects and workspaces without their own setting. Local: Terraform runs on your machine, and only the state is stored here."
            />
            <Choice
              name="cost-estimation-enabled"
              label="Estimate costs"
              hint="Shows the monthly cost of each plan. Never fails a run."
            />
            <Choice
              name="pull-request-comments-enabled"
              label="Show plans in a comment on pull requests"
              hint="Counts, costs and policies, for everyone who can read the repository. Never values."
            />
            <Choice
              name="assessments-enforced"
              label="Assess the health of all workspaces"
              hint="Every 24 hours in every workspace, regardless of its own setting. On AWS each assessment uses a runner for one to three minutes."
            />
            <Choice
              name="allow-force-delete-workspaces"
              label="Allow workspace admins to delete workspaces that manage resources"
              hint="Otherwise, only owners can."
            />
            <Choice
              name="sso-required"
              label="Require single sign-on"
              hint="Rejects other sessions, and API tokens of users who never signed in at the issuer. You become the one owner who is exempt (break-glass owner), unless another one is named through the API."
            />
          </>
        )}
      </SettingsForm>
    </section>
  );
};

/** The page continues at the new address. */
const Rename = ({ organization }: { organization: Resource<'organizations'> }) => {
  const { id } = organization;
  const rename = async (_: FormData, attributes: Values) => {
    const renamed = await change(`/organizations/${id}`, 'organizations', attributes, { basis: organization });
    go({ view: 'organization-settings', organization: renamed.id });
  };
  return (
    <Panel title="Rename this organization">
      <p class="soft">
        Possible while no run is in progress. Addresses with the name {id} stop working, and answer with the new name.
      </p>
      <div>
        <FormButton
          danger
          text="Rename organization"
          title={`Rename ${id}`}
          submit="Rename organization"
          values={{ name: id }}
          onSubmit={rename}
        >
          <Name hint="3 to 40 letters, digits, - and _. Every former name stays reserved for this organization." />
          <p>Then change the name wherever it is written:</p>
          <ul>
            <li>cloud blocks and remote backends, and remote states that read its workspaces</li>
            <li>sources of modules and providers in its registry</li>
            <li>cloud roles that trust identities of organization:{id}</li>
            <li>scripts that call the API</li>
          </ul>
        </FormButton>
      </div>
    </Panel>
  );
};

const Danger = ({ name }: { name: string }) => {
  const remove = async () => {
    await call('DELETE', `/organizations/${name}`);
    go({ view: 'home' });
  };
  return (
    <Panel title="Delete this organization">
      <p class="soft">
        Delete its workspaces first. Projects, variable sets, policies and run tasks are deleted with it.
      </p>
      <div>
        <ConfirmButton
          text="Delete organization"
          title={`Delete ${name}?`}
          yes="Delete permanently"
          typed={name}
          onYes={remove}
        >
          <p>This cannot be undone.</p>
        </ConfirmButton>
      </div>
    </Panel>
  );
};
