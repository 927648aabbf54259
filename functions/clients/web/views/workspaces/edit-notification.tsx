import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { EditDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Choices, Select, Text, type Values } from '#clients/web/parts/fields.tsx';
import type { Relationships } from '#clients/web/session.ts';
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
  configuration?: Resource<'notification-configurations'>;
  onClose(): void;
}

/** A change that names no users removes those who get e-mails. */
export const usersOf = (configuration: Resource<'notification-configurations'> | undefined): Relationships => ({
  users: { data: configuration?.relationships?.users?.data ?? [] },
});

const attributesOf = ({ 'email-addresses': emails, token, 'no-token': noToken, ...fields }: Values): Values => ({
  ...fields,
  ...(emails
    ? {
        'email-addresses': String(emails)
          .split(/[\s,;]+/)
          .filter(Boolean),
      }
    : {}),
  // An empty field keeps the token, which is write-only.
  ...(noToken ? { token: '' } : token ? { token } : {}),
});

export const EditNotification = ({ path, configuration, onClose }: EditProps) => {
  const type = useSignal<DestinationType>(configuration?.attributes['destination-type'] ?? 'slack');
  return (
    <EditDialog
      title={configuration ? `Change ${configuration.attributes.name}` : 'New notification'}
      submit={configuration ? 'Save' : 'Create notification'}
      type="notification-configurations"
      resource={configuration}
      collection={path}
      attributesOf={attributesOf}
      relationshipsOf={(_, current) => usersOf(current)}
      onClose={onClose}
    >
      {(current) => (
        <>
          {!configuration && (
            <Select
              label="Destination"
              name="destination-type"
              options={[...destinationTypes, 'email'].map((type) => [type, destinationNames[type] ?? type])}
              chosen={type}
            />
          )}
          <Text label="Name" name="name" required />
          {type.value === 'email' ? (
            <Text
              label="Email addresses"
              name="email-addresses"
              required
              value={current?.attributes['email-addresses']?.join(', ')}
              placeholder="ops@example.com, dev@example.com"
              hint="Addresses that belong to no member get a link to confirm first."
            />
          ) : (
            <Text
              label="URL"
              name="url"
              required
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
            initial={['run:needs_attention', 'run:errored']}
          />
          <Choice name="enabled" label="Enabled" hint="A verification request is sent when you save." initial />
        </>
      )}
    </EditDialog>
  );
};
