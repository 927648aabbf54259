import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Resource, related } from '#clients/client/client.ts';
import { isOutOfReach } from '#clients/client/vcs-repo.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps, WorkspaceProps } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Button } from '#clients/web/parts/button.tsx';
import { Select } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { SuggestedText } from '#clients/web/parts/suggested-text.tsx';
import { all, call, change, errorText } from '#clients/web/session.ts';
import { Triggers } from './triggers.tsx';

/** Ways to connect: connections, and installations of the GitHub App. */
const connectionsOf = async (organization: string): Promise<(readonly [id: string, name: string])[]> => {
  const at = `/organizations/${organization}`;
  const [clients, installations] = await Promise.all([
    all<'oauth-clients'>(`${at}/oauth-clients`),
    call<Resource[]>('GET', `${at}/github-app-installations?page[size]=100`),
  ]);
  const tokens = clients.data.flatMap((client) => {
    const token = related(client, 'oauth-tokens');
    const { name, 'service-provider-display-name': provider } = client.attributes;
    return token ? [[token, name ?? provider] as const] : [];
  });
  return [
    ...tokens,
    ...installations.data.map(({ id, attributes }) => [id, `GitHub App: ${attributes.name}`] as const),
  ];
};

const isInstallation = (id: string): boolean => id.startsWith('ghain-');

/** The repository that a workspace follows. */
export const Repository = ({ workspace, organization, onChange }: WorkspaceProps & { onChange(): void }) => {
  const { 'vcs-repo': repo, permissions } = workspace.attributes;
  const live = useLive(
    `connections-of/${organization}`,
    async () => (permissions['can-update'] && !repo ? connectionsOf(organization) : []),
    60_000,
  );
  const usable = live.value ?? [];
  if (!repo && !live.value) return null;
  if (!repo && usable.length === 0) return <Unconnected may={permissions['can-update']} organization={organization} />;
  const save = async (value: object | null) => {
    await change(`/workspaces/${workspace.id}`, 'workspaces', { 'vcs-repo': value });
    onChange();
  };
  return (
    <Panel title="Version control">
      {repo ? (
        <>
          <p class="break">
            Follows <strong>{repo.identifier}</strong>, {repo.branch ? `branch ${repo.branch}` : 'its default branch'}.
            Everyone who can push to it can start runs.
          </p>
          {workspace.attributes['applied-pull-request'] && (
            <p>
              Pull request #{workspace.attributes['applied-pull-request']} was applied and is not merged yet: pushes
              start no run until it is.
            </p>
          )}
          <Seen workspace={workspace} organization={organization} identifier={repo.identifier} />
          {isOutOfReach(repo) && (
            <Notice kind="warn">
              The provider cannot deliver webhooks to this machine: pushes start no runs. Check for new commits instead.
            </Notice>
          )}
          {permissions['can-queue-run'] && <Check workspace={workspace} />}
          {permissions['can-update'] && <Triggers workspace={workspace} onChange={onChange} />}
          {permissions['can-update'] && <Form submit="Disconnect" danger onSubmit={() => save(null)} />}
        </>
      ) : (
        <Form
          submit="Connect repository"
          onSubmit={(_, { connection, identifier, branch }) => {
            const via = isInstallation(String(connection)) ? 'github-app-installation-id' : 'oauth-token-id';
            return save({ [via]: connection, identifier, branch: branch ?? '' });
          }}
        >
          <Target organization={organization} usable={usable} />
        </Form>
      )}
    </Panel>
  );
};

/** Shown until the organization has a connection. */
const Unconnected = ({ may, organization }: OrganizationProps & { may: boolean }) =>
  may && (
    <Panel title="Version control">
      <p class="soft">
        To start runs from pushes, <a href={hrefOf({ view: 'version-control', organization })}>connect a provider</a>{' '}
        first. Its repositories then appear here.
      </p>
    </Panel>
  );

const Check = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const words = useSignal('');
  const check = () =>
    call('POST', `/workspaces/${workspace.id}/actions/fetch-latest-from-vcs`).then(
      () => (words.value = 'Checking. See the result under Version control, Latest deliveries.'),
      (error) => (words.value = errorText(error)),
    );
  return (
    <div class="row">
      <Button text="Check for new commits" onClick={check} />
      <span class="soft" role="status">
        {words.value}
      </span>
    </div>
  );
};

/** The latest commit that the workspace knows. */
const Seen = ({ workspace, organization, identifier }: WorkspaceProps & { identifier: string }) => {
  const path = `/workspaces/${workspace.id}/configuration-versions?page[size]=1&include=ingress_attributes`;
  const looks = useRef(0);
  const live = useLive(
    `seen/${workspace.id}`,
    () => call<Resource<'configuration-versions'>[]>('GET', path),
    // Right after connecting, the first commit is a moment away; later it may never come.
    ({ data }) => ((data[0] && data[0].attributes.status !== 'fetching') || ++looks.current > 15 ? 10_000 : 1_000),
  );
  const version = live.value?.data[0]?.attributes;
  const ingress = live.value?.included?.find(({ type }) => type === 'ingress-attributes')?.attributes;
  const waits = !workspace.attributes['queue-all-runs'] && !related(workspace, 'current-run');
  if (!version || !ingress) return null;
  const { 'commit-sha': sha, 'commit-message': message } = ingress as Record<string, string>;
  return (
    <>
      <p class="break">
        Last commit:{' '}
        <a href={hrefOf({ view: 'commit', organization, identifier, sha: sha ?? '' })}>
          <code>{sha?.slice(0, 8)}</code>
        </a>{' '}
        {message?.split('\n')[0]}
        {version.status === 'fetching' && <span class="soft"> · being fetched</span>}
      </p>
      {version['error-message'] && <Notice kind="bad">{version['error-message']}</Notice>}
      {waits && <p>Start the first run: pushes and pull requests start runs from then on.</p>}
    </>
  );
};

const first = (names: string[]): string[] => names.slice(0, 500);

/** Connection, repository and branch, with suggestions from the forge. */
const Target = ({ organization, usable }: OrganizationProps & { usable: (readonly [id: string, name: string])[] }) => {
  const token = useSignal(usable[0]?.[0] ?? '');
  const repositories = useSignal<string[]>([]);
  const branches = useSignal<string[]>([]);
  useEffect(() => {
    repositories.value = [];
    branches.value = [];
    // Without suggestions, users type the name.
    const path = isInstallation(token.value)
      ? `/github-app-installations/${token.value}/repos?page[size]=100`
      : `/oauth-tokens/${token.value}/authorized-repos`;
    call<Resource[]>('GET', path)
      .then(({ data }) => {
        repositories.value = first(data.map(({ id, attributes }) => attributes.identifier ?? id));
      })
      .catch(() => {});
  }, [token.value]);
  const choose = (identifier: string): void => {
    if (!repositories.value.includes(identifier)) return;
    const query = new URLSearchParams({ oauth_token_id: token.value, identifier });
    call<Resource[]>('GET', `/organizations/${organization}/vcs/branches?${query}`)
      .then(({ data }) => {
        branches.value = first(data.map(({ id }) => id));
      })
      .catch(() => {});
  };
  return (
    <>
      <Select label="Connection" name="connection" options={usable} chosen={token} />
      <SuggestedText
        label="Repository"
        name="identifier"
        required
        placeholder="owner/name"
        suggestions={repositories.value}
        onInput={choose}
      />
      <SuggestedText label="Branch" name="branch" placeholder="default branch" suggestions={branches.value} />
    </>
  );
};
