import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Copy } from '#clients/web/parts/basics.tsx';
import { Button } from '#clients/web/parts/button.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Text, textOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { call } from '#clients/web/session.ts';

/** The user's account at a forge, whose comments on pull requests count as theirs. */
export const AccountLink = ({ client, onClose }: { client: Resource<'oauth-clients'>; onClose(): void }) => {
  const path = `/oauth-clients/${client.id}/account-link`;
  const comment = useSignal<string | undefined>(undefined);
  const removed = useSignal(false);
  const live = useLive(
    path,
    async () => (await call('GET', path).catch(() => undefined))?.data.attributes.username ?? '',
    2_000,
  );
  const provider = client.attributes['service-provider-display-name'];
  const begin = async (data: FormData) => {
    const body = { data: { attributes: { username: textOf(data, 'username') } } };
    comment.value = (await call('POST', path, body)).data.attributes.comment;
  };
  const linked = removed.value ? '' : live.value;
  return (
    <Dialog title={`Your account at ${client.attributes.name ?? provider}`} onClose={onClose}>
      {linked ? (
        <Form
          submit="Unlink"
          danger
          onCancel={onClose}
          onSubmit={async () => {
            await call('DELETE', path);
            removed.value = true;
          }}
        >
          <p>
            <strong>{linked}</strong> is your account. Comment <code>stepform plan</code> on a pull request to plan it
            again.
          </p>
        </Form>
      ) : comment.value ? (
        <div class="stack">
          <p>
            Within ten minutes, comment this on a pull request of a repository that a workspace follows through this
            connection. This page updates when the comment arrives.
          </p>
          <p class="break">
            <code>{comment.value}</code>
          </p>
          <div class="row">
            <Copy text={comment.value} label="Copy" />
            <Button text="Close" onClick={onClose} />
          </div>
        </div>
      ) : (
        <Form submit="Get code" onSubmit={begin} onCancel={onClose}>
          <p>Link your account so that its comments on pull requests count as yours.</p>
          <Text label="User name" name="username" required autoFocus hint={`Your account at ${provider}.`} />
        </Form>
      )}
    </Dialog>
  );
};
