import { type Resource, related } from '../../../client/client.ts';
import { useLive } from '../../live.ts';
import { Form, Select, Text, textOf } from '../../parts/form.tsx';
import { all, change } from '../../session.ts';

/** The repository that a workspace follows. */
export const Repository = ({
  workspace,
  organization,
  onChange,
}: {
  workspace: Resource<'workspaces'>;
  organization: string;
  onChange(): void;
}) => {
  const { 'vcs-repo': repo, permissions } = workspace.attributes;
  const live = useLive(
    `connections-of/${organization}`,
    async () =>
      permissions['can-update'] && !repo
        ? (await all<'oauth-clients'>(`/organizations/${organization}/oauth-clients`)).data
        : [],
    () => 60_000,
  );
  const usable = (live.value ?? []).flatMap((client) => {
    const token = related(client, 'oauth-tokens');
    const { name, 'service-provider-display-name': provider } = client.attributes;
    return token ? [[token, name ?? provider] as const] : [];
  });
  if (!repo && usable.length === 0) return null;
  const save = async (value: object | null) => {
    await change(`/workspaces/${workspace.id}`, 'workspaces', { 'vcs-repo': value });
    onChange();
  };
  return (
    <section class="panel pad stack">
      <h2>Version control</h2>
      {repo ? (
        <>
          <p class="break">
            Follows <strong>{repo.identifier}</strong>, {repo.branch ? `branch ${repo.branch}` : 'its default branch'}.
            Whoever may push to it starts runs.
          </p>
          {workspace.attributes['applied-pull-request'] && (
            <p>
              Pull request #{workspace.attributes['applied-pull-request']} was applied and is not merged yet: pushes
              start no run until it is.
            </p>
          )}
          {permissions['can-update'] && (
            <Form submit="Disconnect" danger onSubmit={() => save(null)}>
              {null}
            </Form>
          )}
        </>
      ) : (
        <Form
          submit="Connect repository"
          onSubmit={(data) =>
            save({
              'oauth-token-id': textOf(data, 'oauth-token-id'),
              identifier: textOf(data, 'identifier'),
              branch: textOf(data, 'branch') ?? '',
            })
          }
        >
          <Select label="Connection" name="oauth-token-id" options={usable} value={usable[0]?.[0]} />
          <Text label="Repository" name="identifier" required placeholder="owner/name" />
          <Text label="Branch" name="branch" placeholder="default branch" />
        </Form>
      )}
    </section>
  );
};
