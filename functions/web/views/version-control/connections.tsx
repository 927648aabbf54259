import { useSignal } from '@preact/signals';
import { type Resource, related } from '../../../client/client.ts';
import { useLive } from '../../live.ts';
import { may } from '../../organization.ts';
import { Loaded } from '../../parts/basics.tsx';
import { Confirm, Dialog } from '../../parts/dialog.tsx';
import { Form, Select, Text, textOf } from '../../parts/form.tsx';
import { Head } from '../../parts/head.tsx';
import { OrganizationShell } from '../../parts/organization-shell.tsx';
import { all, call, create } from '../../session.ts';
import { AccountLink } from './account-link.tsx';
import { GithubApp } from './github-app.tsx';

/** An organization's connections to version control, and the results of webhooks. */

type Client = Resource<'oauth-clients'>;

const defaults: Record<string, readonly [name: string, httpUrl: string, apiUrl: string]> = {
  github: ['GitHub', 'https://github.com', 'https://api.github.com'],
  github_enterprise: ['GitHub Enterprise', '', ''],
  gitlab_hosted: ['GitLab.com', 'https://gitlab.com', 'https://gitlab.com/api/v4'],
  gitlab_community_edition: ['GitLab Community Edition', '', ''],
  gitlab_enterprise_edition: ['GitLab Enterprise Edition', '', ''],
  gitea: ['Gitea or Forgejo', '', ''],
};

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
      <Loaded live={live} what="connections">
        {({ data: clients, included }) =>
          clients.length === 0 ? (
            <p class="panel pad soft">
              No connections yet. Connect GitHub, GitLab or Gitea to start runs from pushes and pull requests.
            </p>
          ) : (
            <ul class="panel list" aria-label="Connections">
              {clients.map((client) => (
                <Line key={client.id} client={client} token={tokenOf(client, included)} manages={manages} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <GithubApp organization={organization} manages={manages} />
      {manages && <Events organization={organization} />}
      {adding.value && <NewConnection organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

const tokenOf = (client: Client, included: Resource[]): Resource | undefined =>
  included.find(({ id }) => id === related(client, 'oauth-tokens'));

/** Why nothing comes of it now; undefined when it works. */
const problemOf = (token: Resource | undefined): string | undefined => {
  if (!token) return 'not authorized';
  const { 'error-message': error, 'paused-until': paused } = token.attributes;
  return error ?? (paused ? `paused until ${paused}` : undefined);
};

const Line = ({ client, token, manages }: { client: Client; token: Resource | undefined; manages: boolean }) => {
  const removing = useSignal(false);
  const linking = useSignal(false);
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
            {manages && (
              <button type="button" onClick={() => (removing.value = true)}>
                Delete
              </button>
            )}
          </span>
        </span>
      </div>
      {linking.value && <AccountLink client={client} onClose={() => (linking.value = false)} />}
      {removing.value && (
        <Confirm
          title={`Delete connection ${title}?`}
          yes="Delete connection"
          onYes={() => call('DELETE', `/oauth-clients/${client.id}`).then(() => undefined)}
          onClose={() => (removing.value = false)}
        >
          <p>Workspaces that use it are disconnected from their repositories, and its webhooks are deleted.</p>
        </Confirm>
      )}
    </li>
  );
};

const NewConnection = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const provider = useSignal('github');
  const [, httpUrl = '', apiUrl = ''] = defaults[provider.value] ?? [];
  const submit = async (data: FormData) => {
    await create(`/organizations/${organization}/oauth-clients`, 'oauth-clients', {
      name: textOf(data, 'name') ?? null,
      'service-provider': provider.value,
      'http-url': textOf(data, 'http-url'),
      'api-url': textOf(data, 'api-url'),
      'oauth-token-string': textOf(data, 'oauth-token-string'),
    });
    onClose();
  };
  return (
    <Dialog title="New connection" onClose={onClose}>
      <Form submit="Connect" onSubmit={submit} onCancel={onClose}>
        <Select
          label="Provider"
          name="service-provider"
          options={Object.entries(defaults).map(([id, [name]]) => [id, name] as const)}
          value={provider.value}
          onChange={(value) => (provider.value = value)}
        />
        <Text label="Name" name="name" hint="For example the account or group that it is for." />
        <Text key={`http-${provider.value}`} label="URL" name="http-url" required value={httpUrl} />
        <Text key={`api-${provider.value}`} label="API URL" name="api-url" required value={apiUrl} />
        <Text
          label="Access token"
          name="oauth-token-string"
          type="password"
          required
          hint="GitHub: scope repo. GitLab: scope api, role Maintainer. Gitea: write:repository, write:issue and read:user. Its account needs admin access to repositories, to create webhooks."
        />
      </Form>
    </Dialog>
  );
};

const Events = ({ organization }: { organization: string }) => {
  const path = `/organizations/${organization}/vcs-events?page[size]=20`;
  const live = useLive(
    `vcs-events/${organization}`,
    async () => (await call<Resource[]>('GET', path)).data,
    () => 5_000,
  );
  const again = (id: string) =>
    call('POST', `/organizations/${organization}/vcs-deliveries/${encodeURIComponent(id)}/actions/redeliver`);
  return (
    <Loaded live={live} what="events">
      {(events) =>
        events.length > 0 && (
          <section class="stack">
            <h2>Latest deliveries</h2>
            <ul class="panel list" aria-label="Latest deliveries">
              {events.map(({ id, attributes }) => (
                <li key={id}>
                  <div class="item">
                    <span class={attributes.level === 'error' ? 'status bad' : 'status good'}>{attributes.level}</span>
                    <span class="break">{attributes.message}</span>
                    {attributes['delivery-id'] && (
                      <button type="button" class="end" onClick={() => void again(attributes['delivery-id'])}>
                        Deliver again
                      </button>
                    )}
                  </div>
                </li>
              ))}
            </ul>
          </section>
        )
      }
    </Loaded>
  );
};
