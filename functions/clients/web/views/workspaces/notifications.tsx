import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useList } from '#clients/web/live.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { DialogButton, SmallButton } from '#clients/web/parts/button.tsx';
import { DeleteButton } from '#clients/web/parts/dialog.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { call, change, errorText, get } from '#clients/web/session.ts';
import { destinationNames, triggerNames } from '#clients/web/text/notifications.ts';
import { EditNotification, usersOf } from './edit-notification.tsx';

/** Notifications of a workspace, for users with permission to change its settings: webhook URLs are secrets. */
export const Notifications = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const path = `/workspaces/${workspace.id}/notification-configurations`;
  const live = useList<'notification-configurations'>(path, 15_000);
  return (
    <Panel title="Notifications">
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
                    collection={path}
                    onChange={live.refresh}
                  />
                ))}
              </ul>
            )}
            <div>
              <DialogButton text="New notification" onClose={live.refresh}>
                {(close) => <EditNotification path={path} onClose={close} />}
              </DialogButton>
            </div>
          </>
        )}
      </Loaded>
    </Panel>
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
  /** API path of the workspace's notifications. */
  collection: string;
  onChange(): void;
}

const Line = ({ configuration, collection, onChange }: LineProps) => {
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
      () =>
        change(path, 'notification-configurations', { enabled: !enabled }, { relationships: usersOf(configuration) }),
      enabled ? `${name} disabled.` : `${name} accepted the verification request and is enabled.`,
    );
  return (
    <li class="stack tight">
      <div class="grow break">
        <strong>{name}</strong> <Tags of={[destinationNames[type] ?? type]} /> <Tags of={[!enabled && 'disabled']} />
        {failing && <span class="tag bad">failing</span>}
        <div class="soft small">{triggerNames(triggers)}</div>
      </div>
      <div class="row">
        <SmallButton text="Verify" of={name} disabled={busy.value} onClick={verify} />
        <SmallButton text={enabled ? 'Disable' : 'Enable'} of={name} disabled={busy.value} onClick={turn} />
        {/* Entries of a list carry no ETag. */}
        <DialogButton
          small
          text="Change"
          of={name}
          load={() => get<'notification-configurations'>(path)}
          onClose={onChange}
        >
          {(close, current) => <EditNotification path={collection} configuration={current} onClose={close} />}
        </DialogButton>
        <DeleteButton of={name} noun="notification" path={path} onClose={onChange}>
          No further notifications are sent, not even for runs in progress.
        </DeleteButton>
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
