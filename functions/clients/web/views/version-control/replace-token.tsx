import type { Resource } from '#clients/client/client.ts';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { change } from '#clients/web/session.ts';

/** Another access token for a connection, also one that the forge no longer accepts. Its workspaces stay connected. */
export const ReplaceToken = ({ client, onClose }: { client: Resource<'oauth-clients'>; onClose(): void }) => {
  const { name, 'service-provider-display-name': provider } = client.attributes;
  const submit = async (data: FormData) => {
    const token = textOf(data, 'oauth-token-string');
    await change(`/oauth-clients/${client.id}`, 'oauth-clients', { 'oauth-token-string': token });
    onClose();
  };
  return (
    <Dialog title={`Replace the token of ${name ?? provider}`} onClose={onClose}>
      <Form submit="Replace token" onSubmit={submit} onCancel={onClose}>
        <p>Workspaces stay connected. The new token needs the same access, and its account becomes the connection’s.</p>
        <Text label="Access token" name="oauth-token-string" type="password" required />
      </Form>
    </Dialog>
  );
};
