import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { Markdown } from '#clients/web/parts/markdown.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { call, create, errorText, related } from '#clients/web/session.ts';

/** Change requests of a workspace. */

type Request = Resource<'workspace-change-requests'>;

const everyMs = 10_000;

export const ChangeRequests = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const live = useLive(
    `change-requests/${workspace.id}`,
    async () => (await call<Request[]>('GET', `/workspaces/${workspace.id}/change-requests?archive=false`)).data,
    () => everyMs,
  );
  return (
    <section class="panel" aria-label="Change requests">
      <div class="pad row">
        <h2>Change requests</h2>
      </div>
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
  const error = useSignal<string | undefined>(undefined);
  const { subject, message, 'created-at': at } = request.attributes;
  const archive = async () => {
    try {
      await call('POST', `/change-requests/${request.id}/actions/archive`);
      onArchived();
    } catch (problem) {
      error.value = errorText(problem);
    }
  };
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
          <SmallButton text="Archive" onClick={archive} />
        </div>
      )}
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </li>
  );
};

/** For one workspace; the API also accepts several. */
export const NewChangeRequest = ({
  workspace,
  organization,
}: {
  workspace: Resource<'workspaces'>;
  organization: string;
}) => {
  const asking = useSignal(false);
  const submit = async (data: FormData) => {
    await create(`/organizations/${organization}/explorer/bulk-actions`, 'bulk_actions', {
      action_type: 'change_requests',
      action_inputs: { subject: textOf(data, 'subject'), message: textOf(data, 'message') },
      target_ids: [workspace.id],
    });
    asking.value = false;
  };
  return (
    <div>
      <button type="button" onClick={() => (asking.value = true)}>
        Request a change
      </button>
      {asking.value && (
        <Dialog title={`Request a change of ${workspace.attributes.name}`} onClose={() => (asking.value = false)}>
          <Form submit="Create request" onSubmit={submit}>
            <Text label="Subject" name="subject" required />
            <Text
              label="Message"
              name="message"
              lines={5}
              hint="Markdown. Everyone who can read the workspace sees it."
            />
          </Form>
        </Dialog>
      )}
    </div>
  );
};
