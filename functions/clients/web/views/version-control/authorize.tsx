import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { Copy, Notice } from '#clients/web/parts/basics.tsx';
import { Button } from '#clients/web/parts/button.tsx';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { Text, type Values } from '#clients/web/parts/fields.tsx';
import { call, change } from '#clients/web/session.ts';

/** Authorizes a connection through an OAuth application at the provider. */

type Client = Resource<'oauth-clients'>;

/** Redirects to the provider, which redirects back. */
const leave = async ({ id }: Client): Promise<void> => {
  const { data } = await call('POST', `/oauth-clients/${id}/actions/connect`);
  location.assign(data.attributes['authorize-url']);
};

export const Authorize = ({ client, onClose }: { client: Client; onClose(): void }) => {
  const { key, name, 'callback-url': callback, 'service-provider-display-name': provider } = client.attributes;
  const edits = useSignal(key === null);
  const submit = async (_: FormData, fields: Values) => {
    if (edits.value) {
      await change(`/oauth-clients/${client.id}`, 'oauth-clients', fields);
      edits.value = false;
    }
    await leave(client);
  };
  return (
    <FormDialog
      title={`Authorize ${name ?? provider}`}
      submit={`Authorize at ${provider}`}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        Sign in there as a user with admin access to the repositories. The platform creates webhooks and reads commits
        on that user's behalf.
      </p>
      {!edits.value && <Button text="Change client ID and secret" onClick={() => (edits.value = true)} />}
      {edits.value && (
        <>
          <p>Create an OAuth application at {provider} with this callback URL, and enter its ID and secret.</p>
          <div class="row">
            <code class="break">{callback}</code>
            <Copy text={callback} />
          </div>
          <Text label="Client ID" name="key" required />
          <Text label="Client secret" name="secret" type="password" required />
        </>
      )}
    </FormDialog>
  );
};

const outcomes: Record<string, readonly ['good' | 'bad', string]> = {
  connected: ['good', 'The connection is authorized.'],
  failed: [
    'bad',
    'The provider did not issue a token. Check the client ID, secret and callback URL, then authorize again.',
  ],
  denied: ['bad', 'The authorization was rejected, because you don’t have permission to manage connections.'],
};

/** Result of an authorization, after the redirect back. */
export const Outcome = () => {
  const names = new URLSearchParams(location.search);
  const [kind, words] = Object.entries(outcomes).find(([name]) => names.has(name))?.[1] ?? [];
  return kind && words ? <Notice kind={kind}>{words}</Notice> : null;
};
