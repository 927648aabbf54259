import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Choices, Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { change, changed, create, get } from '#clients/web/session.ts';
import { destinationNames, triggerOptions } from '#clients/web/text/notifications.ts';
import { type DestinationType, destinationTypes, type UrlDestinationType } from '#run/notifications/message.ts';

const urlHints: Record<UrlDestinationType, string> = {
  generic: 'Receives a JSON payload and must respond with a 2xx status.',
  slack: 'Incoming webhook URL. Keep it secret: it grants posting to the channel.',
  'microsoft-teams': 'Incoming webhook URL. Keep it secret: it grants posting to the channel.',
};

interface EditProps {
  /** API path of the workspace's notifications. */
  path: string;
  configuration: Resource<'notification-configurations'> | undefined;
  onClose(): void;
}

export const EditNotification = ({ path: all, configuration, onClose }: EditProps) => {
  const basis = useSignal(configuration);
  const current = basis.value?.attributes;
  const type = useSignal<DestinationType>(current?.['destination-type'] ?? 'slack');
  const path = `/notification-configurations/${configuration?.id}`;
  const submit = async (data: FormData) => {
    const token = textOf(data, 'token');
    const attributes = {
      name: textOf(data, 'name'),
      ...(type.value === 'email'
        ? {
            'email-addresses': (textOf(data, 'email-addresses') ?? '').split(/[\s,;]+/).filter(Boolean),
          }
        : { url: textOf(data, 'url') }),
      enabled: data.has('enabled'),
      triggers: data.getAll('triggers'),
      // An empty field keeps the token, which is write-only.
      ...(data.has('no-token') ? { token: '' } : token ? { token } : {}),
    };
    await (configuration
      ? change(path, 'notification-configurations', changed(attributes, current ?? {}), { basis: basis.value })
      : create(all, 'notification-configurations', { ...attributes, 'destination-type': type.value }));
    onClose();
  };
  return (
    <Dialog title={configuration ? `Change ${current?.name}` : 'New notification'} onClose={onClose}>
      <Form
        key={basis.value?.etag}
        submit={configuration ? 'Save' : 'Create notification'}
        onSubmit={submit}
        onCancel={onClose}
        onReload={async () => {
          basis.value = await get(path);
        }}
      >
        {!configuration && (
          <Select
            label="Destination"
            name="destination-type"
            options={[...destinationTypes, 'email'].map((type) => [type, destinationNames[type] ?? type])}
            value={type.value}
            onChange={(value) => (type.value = value as DestinationType)}
          />
        )}
        <Text label="Name" name="name" required value={current?.name} />
        {type.value === 'email' ? (
          <Text
            label="Email addresses"
            name="email-addresses"
            required
            value={current?.['email-addresses']?.join(', ')}
            placeholder="ops@example.com, dev@example.com"
            hint="Addresses that belong to no member get a link to confirm first."
          />
        ) : (
          <Text
            label="URL"
            name="url"
            required
            value={current?.url ?? ''}
            placeholder="https://"
            hint={urlHints[type.value as UrlDestinationType]}
          />
        )}
        {type.value === 'generic' && (
          <Text
            label="Token"
            name="token"
            type="password"
            autoComplete="new-password"
            hint={
              configuration
                ? 'Write-only. Leave empty to keep the current token.'
                : 'Signs each notification so that the receiver can verify the sender. Write-only.'
            }
          />
        )}
        {type.value === 'generic' && configuration && (
          <Choice name="no-token" label="Remove the token" hint="Notifications are sent without a signature." />
        )}
        <Choices
          legend="Triggers"
          name="triggers"
          options={triggerOptions}
          chosen={current?.triggers ?? ['run:needs_attention', 'run:errored']}
        />
        <Choice
          name="enabled"
          label="Enabled"
          hint="A verification request is sent when you save."
          checked={current?.enabled ?? true}
        />
      </Form>
    </Dialog>
  );
};
