import { useSignal } from '@preact/signals';
import { type Resource, related } from '#clients/client/client.ts';
import { vcsProviders, withoutSlash } from '#clients/client/vcs-providers.ts';
import { useLive } from '#clients/web/live.ts';
import { may, type OrganizationProps } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { ConfirmButton, Dialog } from '#clients/web/parts/dialog.tsx';
import { Select, Text, textOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { all, call, create } from '#clients/web/session.ts';
import { AccountLink } from './account-link.tsx';
import { Authorize, Outcome } from './authorize.tsx';
import { Deliveries } from './deliveries.tsx';
import { GithubApp } from './github-app.tsx';
import { ReplaceToken } from './replace-token.tsx';

/** An organization's connections to version control, and the results of webhooks. */

type Client = Resource<'oauth-clients'>;

export const Connections = ({ organization }: OrganizationProps) => {
  const path = `/organizations/${organization}/oauth-clients?include=oauth_tokens`;
  const live = useLive(path, () => all<'oauth-clients'>(path), 15_000);
  const manages = may(organization, 'can-update-oauth');
  return (
    <OrganizationShell
      organization={organization}
      at="version-control"
      action={
        manages && (
          <DialogButton text="New connection" primary onClose={live.refresh}>
            {(close) => <NewConnection organization={organization} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <Outcome />
      <Loaded live={live} what="connections">
        {({ data: clients, included }) => (
          <List
            label="Connections"
            of={clients}
            none={
              <>
                No connections yet.{' '}
                {manages
                  ? 'Connect GitHub, GitLab, Gitea, Bitbucket or Azure DevOps to start runs from pushes and pull requests.'
                  : `Owners of ${organization} add them.`}
              </>
            }
          >
            {(client) => (
              <Connection
                key={client.id}
                client={client}
                token={tokenOf(client, included)}
                manages={manages}
                onChange={live.refresh}
              />
            )}
          </List>
        )}
      </Loaded>
      <GithubApp organization={organization} manages={manages} />
      {manages && <Deliveries organization={organization} />}
    </OrganizationShell>
  );
};

const tokenOf = (client: Client, included: Resource[]): Resource | undefined =>
  included.find(({ id }) => id === related(client, 'oauth-tokens'));

/** Why the connection does not work; undefined when it does. */
const problemOf = (token: Resource | undefined): string | undefined => {
  if (!token) return 'not authorized';
  const { 'error-message': error, 'paused-until': paused } = token.attributes;
  return error ?? (paused ? `paused until ${paused}` : undefined);
};

interface ConnectionProps {
  client: Client;
  token: Resource | undefined;
  manages: boolean;
  onChange(): void;
}

const Connection = ({ client, token, manages, onChange }: ConnectionProps) => {
  const { name, key, 'service-provider-display-name': provider, 'http-url': url } = client.attributes;
  const title = name ?? provider;
  const problem = problemOf(token);
  return (
    <Item
      title={title}
      beside={problem && <span class="status bad">{problem}</span>}
      meta={[provider, url, token?.attributes['service-provider-user']].filter(Boolean).join(' · ')}
    >
      <DialogButton text="Your account">{(close) => <AccountLink client={client} onClose={close} />}</DialogButton>
      {manages && (!token || key !== null) && (
        <DialogButton text="Authorize">{(close) => <Authorize client={client} onClose={close} />}</DialogButton>
      )}
      {manages && token && key === null && <ReplaceToken client={client} onClose={onChange} />}
      {manages && (
        <ConfirmButton
          text="Delete"
          danger={false}
          title={`Delete connection ${title}?`}
          yes="Delete connection"
          onYes={() => call('DELETE', `/oauth-clients/${client.id}`)}
          onClose={onChange}
        >
          <p>Workspaces that use it are disconnected from their repositories, and its webhooks are deleted.</p>
        </ConfirmButton>
      )}
    </Item>
  );
};

const NewConnection = ({ organization, onClose }: OrganizationProps & { onClose(): void }) => {
  const chosen = useSignal('github');
  const how = useSignal<'token' | 'oauth'>('token');
  const { apiPath, scope, url, example, apiUrl, oauth } = vcsProviders[chosen.value] ?? {};
  const byToken = how.value === 'token' || oauth === false;
  const newClient = useSignal<Client | undefined>(undefined);
  const submit = async (data: FormData) => {
    const client = await create(`/organizations/${organization}/oauth-clients`, 'oauth-clients', {
      name: textOf(data, 'name') ?? null,
      'service-provider': chosen.value,
      'http-url': textOf(data, 'http-url'),
      'api-url': textOf(data, 'api-url') ?? `${withoutSlash(textOf(data, 'http-url') ?? '')}${apiPath}`,
      ...(byToken ? { 'oauth-token-string': textOf(data, 'oauth-token-string') } : {}),
    });
    if (byToken) onClose();
    else newClient.value = client as Client;
  };
  if (newClient.value) return <Authorize client={newClient.value} onClose={onClose} />;
  return (
    <Dialog title="New connection" onClose={onClose}>
      <Form submit={byToken ? 'Connect' : 'Continue'} onSubmit={submit} onCancel={onClose}>
        <Select
          label="Provider"
          name="service-provider"
          options={Object.entries(vcsProviders).map(([id, { name }]) => [id, name] as const)}
          chosen={chosen}
        />
        <Text label="Name" name="name" hint="For example the account or group that it is for." />
        <Text key={`http-${chosen.value}`} label="URL" name="http-url" required value={url} placeholder={example} />
        <Text
          key={`api-${chosen.value}`}
          label="API URL"
          name="api-url"
          required={apiPath === undefined || (!apiPath && apiUrl !== undefined)}
          value={apiUrl}
          placeholder={apiPath ? `URL${apiPath}` : 'The same as the URL'}
        />
        {oauth !== false && (
          <Select
            label="Connect with"
            name="how"
            options={[
              ['token', 'an access token'],
              ['oauth', 'an OAuth application'],
            ]}
            chosen={how}
          />
        )}
        {byToken && (
          <Text
            label="Access token"
            name="oauth-token-string"
            type="password"
            required
            hint={`${scope} Its account needs admin access to repositories, to create webhooks.`}
          />
        )}
      </Form>
    </Dialog>
  );
};
