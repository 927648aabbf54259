import { useSignal } from '@preact/signals';
import { type Resource, related } from '#clients/client/client.ts';
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

interface Provider {
  name: string;
  httpUrl?: string;
  apiUrl?: string;
  /** API path below the URL. */
  apiPath: string;
  /** Required permissions of the token. */
  scope: string;
}

const githubScope = 'Scope repo; fine-grained: contents read; webhooks, commit statuses and pull requests write.';
const gitlabScope = 'Scope api, role Maintainer.';
const providers: Record<string, Provider> = {
  github: {
    name: 'GitHub',
    httpUrl: 'https://github.com',
    apiUrl: 'https://api.github.com',
    apiPath: '',
    scope: githubScope,
  },
  github_enterprise: { name: 'GitHub Enterprise', apiPath: '/api/v3', scope: githubScope },
  gitlab_hosted: {
    name: 'GitLab.com',
    httpUrl: 'https://gitlab.com',
    apiUrl: 'https://gitlab.com/api/v4',
    apiPath: '/api/v4',
    scope: gitlabScope,
  },
  gitlab_community_edition: { name: 'GitLab Community Edition', apiPath: '/api/v4', scope: gitlabScope },
  gitlab_enterprise_edition: { name: 'GitLab Enterprise Edition', apiPath: '/api/v4', scope: gitlabScope },
  gitea: {
    name: 'Gitea or Forgejo',
    apiPath: '/api/v1',
    scope: 'Scopes write:repository, write:issue and read:user.',
  },
};
const apiUrlOf = ({ apiPath }: Provider, httpUrl = ''): string => `${httpUrl.replace(/\/+$/, '')}${apiPath}`;

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
                  ? 'Connect GitHub, GitLab or Gitea to start runs from pushes and pull requests.'
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
  const provider = providers[chosen.value] as Provider;
  const byToken = useSignal(true);
  const newClient = useSignal<Client | undefined>(undefined);
  const submit = async (data: FormData) => {
    const client = await create(`/organizations/${organization}/oauth-clients`, 'oauth-clients', {
      name: textOf(data, 'name') ?? null,
      'service-provider': chosen.value,
      'http-url': textOf(data, 'http-url'),
      'api-url': textOf(data, 'api-url') ?? apiUrlOf(provider, textOf(data, 'http-url')),
      ...(byToken.value ? { 'oauth-token-string': textOf(data, 'oauth-token-string') } : {}),
    });
    if (byToken.value) onClose();
    else newClient.value = client as Client;
  };
  if (newClient.value) return <Authorize client={newClient.value} onClose={onClose} />;
  return (
    <Dialog title="New connection" onClose={onClose}>
      <Form submit={byToken.value ? 'Connect' : 'Continue'} onSubmit={submit} onCancel={onClose}>
        <Select
          label="Provider"
          name="service-provider"
          options={Object.entries(providers).map(([id, { name }]) => [id, name] as const)}
          value={chosen.value}
          onChange={(value) => (chosen.value = value)}
        />
        <Text label="Name" name="name" hint="For example the account or group that it is for." />
        <Text key={`http-${chosen.value}`} label="URL" name="http-url" required value={provider.httpUrl} />
        <Text
          key={`api-${chosen.value}`}
          label="API URL"
          name="api-url"
          required={!provider.apiPath}
          value={provider.apiUrl}
          placeholder={provider.apiPath ? `URL${provider.apiPath}` : undefined}
        />
        <Select
          label="Connect with"
          name="how"
          options={[
            ['token', 'an access token'],
            ['oauth', 'an OAuth application'],
          ]}
          onChange={(value) => (byToken.value = value === 'token')}
        />
        {byToken.value && (
          <Text
            label="Access token"
            name="oauth-token-string"
            type="password"
            required
            hint={`${provider.scope} Its account needs admin access to repositories, to create webhooks.`}
          />
        )}
      </Form>
    </Dialog>
  );
};
