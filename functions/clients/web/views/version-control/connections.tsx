import { useSignal } from '@preact/signals';
import { type Resource, related } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { may } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
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

export const Connections = ({ organization }: { organization: string }) => {
  const live = useLive(
    `connections/${organization}`,
    () => all<'oauth-clients'>(`/organizations/${organization}/oauth-clients?include=oauth_tokens`),
    () => 15_000,
  );
  const adding = useSignal(false);
  const manages = may(organization, 'can-update-oauth');
  return (
    <OrganizationShell organization={organization} at="version-control">
      <Head title="Version control" add="New connection" onAdd={manages && (() => (adding.value = true))} />
      <Outcome />
      <Loaded live={live} what="connections">
        {({ data: clients, included }) =>
          clients.length === 0 ? (
            <p class="panel pad soft">
              No connections yet.{' '}
              {manages
                ? 'Connect GitHub, GitLab or Gitea to start runs from pushes and pull requests.'
                : `Owners of ${organization} add them.`}
            </p>
          ) : (
            <ul class="panel list" aria-label="Connections">
              {clients.map((client) => (
                <Line
                  key={client.id}
                  client={client}
                  token={tokenOf(client, included)}
                  manages={manages}
                  onChange={live.refresh}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      <GithubApp organization={organization} manages={manages} />
      {manages && <Deliveries organization={organization} />}
      {adding.value && (
        <NewConnection
          organization={organization}
          onClose={() => {
            adding.value = false;
            live.refresh();
          }}
        />
      )}
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

const Line = ({
  client,
  token,
  manages,
  onChange,
}: {
  client: Client;
  token: Resource | undefined;
  manages: boolean;
  onChange(): void;
}) => {
  const removing = useSignal(false);
  const linking = useSignal(false);
  const authorizing = useSignal(false);
  const replacing = useSignal(false);
  const { name, 'service-provider-display-name': provider, 'http-url': url } = client.attributes;
  const title = name ?? provider;
  const problem = problemOf(token);
  return (
    <li>
      <div class="item">
        <span class="title">{title}</span>
        <span class="meta">
          {provider} · {url}
          {token && ` · ${token.attributes['service-provider-user']}`}
        </span>
        {problem && <span class="status bad">{problem}</span>}
        <span class="end">
          <span class="row">
            <button type="button" onClick={() => (linking.value = true)}>
              Your account
            </button>
            {manages && (!token || client.attributes.key !== null) && (
              <button type="button" onClick={() => (authorizing.value = true)}>
                Authorize
              </button>
            )}
            {manages && token && client.attributes.key === null && (
              <button type="button" onClick={() => (replacing.value = true)}>
                Replace token
              </button>
            )}
            {manages && (
              <button type="button" onClick={() => (removing.value = true)}>
                Delete
              </button>
            )}
          </span>
        </span>
      </div>
      {linking.value && <AccountLink client={client} onClose={() => (linking.value = false)} />}
      {authorizing.value && <Authorize client={client} onClose={() => (authorizing.value = false)} />}
      {replacing.value && (
        <ReplaceToken
          client={client}
          onClose={() => {
            replacing.value = false;
            onChange();
          }}
        />
      )}
      {removing.value && (
        <Confirm
          title={`Delete connection ${title}?`}
          yes="Delete connection"
          onYes={() => call('DELETE', `/oauth-clients/${client.id}`).then(onChange)}
          onClose={() => (removing.value = false)}
        >
          <p>Workspaces that use it are disconnected from their repositories, and its webhooks are deleted.</p>
        </Confirm>
      )}
    </li>
  );
};

const NewConnection = ({ organization, onClose }: { organization: string; onClose(): void }) => {
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
