import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import type { WorkspaceProps } from '#clients/web/organization.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { FormButton } from '#clients/web/parts/dialog.tsx';
import { Text } from '#clients/web/parts/fields.tsx';
import { Markdown } from '#clients/web/parts/markdown.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { call, create, related } from '#clients/web/session.ts';

/** Change requests of a workspace. */

type Request = Resource<'workspace-change-requests'>;

export const ChangeRequests = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const path = `/workspaces/${workspace.id}/change-requests?archive=false`;
  const live = useLive(path, async () => (await call<Request[]>('GET', path)).data, 10_000);
  return (
    <section class="panel" aria-label="Change requests">
      <h2 class="pad">Change requests</h2>
      <Loaded live={live} what="change requests">
        {(requests) => (
          <ul class="list">
            {requests.map((request) => (
              <Line
                key={request.id}
                request={request}
                mayArchive={workspace.attributes.permissions['can-queue-apply']}
                onArchived={live.refresh}
              />
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
};

const Line = ({ request, mayArchive, onArchived }: { request: Request; mayArchive: boolean; onArchived(): void }) => {
  const { subject, message, 'created-at': at } = request.attributes;
  return (
    <li class="pad stack">
      <div class="row spread">
        <strong class="break">{subject}</strong>
        <span class="meta">
          <Ago at={at} /> by <Person id={related(request, 'created-by')} />
        </span>
      </div>
      {message && <Markdown text={message} />}
      {mayArchive && (
        <div>
          <ActionButton
            small
            text="Archive"
            work={() => call('POST', `/change-requests/${request.id}/actions/archive`)}
            onDone={onArchived}
          />
        </div>
      )}
    </li>
  );
};

/** For one workspace; the API also accepts several. */
export const NewChangeRequest = ({ workspace, organization }: WorkspaceProps) => (
  <div>
    <FormButton
      text="Request a change"
      title={`Request a change of ${workspace.attributes.name}`}
      submit="Create request"
      onSubmit={(_, fields) =>
        create(`/organizations/${organization}/explorer/bulk-actions`, 'bulk_actions', {
          action_type: 'change_requests',
          action_inputs: fields,
          target_ids: [workspace.id],
        })
      }
    >
      <Text label="Subject" name="subject" required />
      <Text label="Message" name="message" lines={5} hint="Markdown. Everyone who can read the workspace sees it." />
    </FormButton>
  </div>
);
