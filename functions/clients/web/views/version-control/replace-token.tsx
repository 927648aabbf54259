import type { Resource } from '#clients/client/client.ts';
import { FormButton } from '#clients/web/parts/dialog.tsx';
import { Text } from '#clients/web/parts/fields.tsx';
import { change } from '#clients/web/session.ts';

/** Another access token for a connection, also one that the forge no longer accepts. Its workspaces stay connected. */
export const ReplaceToken = ({ client, onClose }: { client: Resource<'oauth-clients'>; onClose(): void }) => {
  const { name, 'service-provider-display-name': provider } = client.attributes;
  return (
    <FormButton
      text="Replace token"
      title={`Replace the token of ${name ?? provider}`}
      submit="Replace token"
      onSubmit={(_, fields) => change(`/oauth-clients/${client.id}`, 'oauth-clients', fields)}
      onClose={onClose}
    >
      <p>Workspaces stay connected. The new token needs the same access, and its account becomes the connection’s.</p>
      <Text label="Access token" name="oauth-token-string" type="password" required />
    </FormButton>
  );
};
