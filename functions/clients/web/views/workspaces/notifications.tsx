import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useEditing } from '#clients/web/editing.ts';
import { useLive } from '#clients/web/live.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { all, call, change, errorText } from '#clients/web/session.ts';
import { destinationNames, triggerNames } from '#clients/web/text/notifications.ts';
import { EditNotification } from './edit-notification.tsx';

/** Notifications of a workspace, for users with permission to change its settings: webhook URLs are secrets. */
export const Notifications = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const path = `/workspaces/${workspace.id}/notification-configurations`;
  const live = useLive(
    path,
    async () => (await all<'notification-configurations'>(path)).data,
    () => 15_000,
  );
  const { editing, removing, edit, close } = useEditing('/notification-configurations', live);
  return (
    <section class="panel pad stack" aria-label="Notifications">
      <h2>Notifications</h2>
      <Loaded live={live} what="notifications">
        {(configurations) => (
          <>
            {configurations.length === 0 ? (
              <p class="soft">
                No notifications yet. Add one to send run events, such as runs that need attention, to Slack, Microsoft
                Teams or your own webhook.
              </p>
            ) : (
              <ul class="stack">
                {configurations.map((configuration) => (
                  <Line
                    key={configuration.id}
                    configuration={configuration}
                    onEdit={() => edit(configuration)}
                    onDelete={() => (removing.value = configuration)}
                    onChange={live.refresh}
                  />
                ))}
              </ul>
            )}
            <div>
              <button type="button" onClick={() => (editing.value = 'new')}>
                New notification
              </button>
            </div>
          </>
        )}
      </Loaded>
      {editing.value && (
        <EditNotification
          path={path}
          configuration={editing.value === 'new' ? undefined : editing.value}
          onClose={close}
        />
      )}
      {removing.value && (
        <Confirm
          title={`Delete ${removing.value.attributes.name}?`}
          yes="Delete notification"
          onYes={() => call('DELETE', `/notification-configurations/${removing.value?.id}`)}
          onClose={close}
        >
          <p>No further notifications are sent, not even for runs in progress.</p>
        </Confirm>
      )}
    </section>
  );
};

interface Response {
  code: string;
  body: string;
  successful: string;
  'sent-at': string;
}

interface LineProps {
  configuration: Resource<'notification-configurations'>;
  onEdit(): void;
  onDelete(): void;
  onChange(): void;
}

const Line = ({ configuration, onEdit, onDelete, onChange }: LineProps) => {
  const { name, enabled, triggers, 'destination-type': type } = configuration.attributes;
  const responses: Response[] = configuration.attributes['delivery-responses'];
  const failing = enabled && responses[0]?.successful === 'false';
  const busy = useSignal(false);
  const result = useSignal<{ kind: 'good' | 'bad'; text: string } | undefined>(undefined);
  const path = `/notification-configurations/${configuration.id}`;
  const act = async (work: () => Promise<unknown>, done: string) => {
    if (busy.value) return;
    busy.value = true;
    result.value = undefined;
    try {
      await work();
      result.value = { kind: 'good', text: done };
    } catch (error) {
      result.value = { kind: 'bad', text: errorText(error) };
    }
    busy.value = false;
    onChange();
  };
  const verify = () => act(() => call('POST', `${path}/actions/verify`), `${name} accepted the verification request.`);
  const turn = () =>
    act(
      () => change(path, 'notification-configurations', { enabled: !enabled }),
      enabled ? `${name} disabled.` : `${name} accepted the verification request and is enabled.`,
    );
  return (
    <li class="stack tight">
      <div class="grow break">
        <strong>{name}</strong> <span class="tag">{destinationNames[type] ?? type}</span>{' '}
        {!enabled && <span class="tag">disabled</span>}
        {failing && <span class="tag bad">failing</span>}
        <div class="soft small">{triggerNames(triggers)}</div>
      </div>
      <div class="row">
        <SmallButton text="Verify" of={name} disabled={busy.value} onClick={verify} />
        <button
          type="button"
          class="small-button"
          disabled={busy.value}
          aria-label={`${enabled ? 'Disable' : 'Enable'} ${name}`}
          onClick={turn}
        >
          {enabled ? 'Disable' : 'Enable'}
        </button>
        <SmallButton text="Change" of={name} onClick={onEdit} />
        <SmallButton text="Delete" of={name} danger onClick={onDelete} />
      </div>
      <div role="status">{result.value && <Notice kind={result.value.kind}>{result.value.text}</Notice>}</div>
      {responses.length > 0 && <Responses name={name} responses={responses} />}
    </li>
  );
};

const Responses = ({ name, responses }: { name: string; responses: Response[] }) => (
  <details class="outcomes">
    <summary aria-label={`Latest responses of ${name}`}>Latest responses</summary>
    <ul class="stack tight">
      {responses.map(({ code, body, successful, 'sent-at': at }) => (
        <li key={at} class="small break">
          <span class={`tag ${successful === 'true' ? 'info' : 'bad'}`}>{code || 'no response'}</span> <Ago at={at} />
          {body && <div class="soft mono">{body.length > 300 ? `${body.slice(0, 300)}…` : body}</div>}
        </li>
      ))}
    </ul>
  </details>
);
