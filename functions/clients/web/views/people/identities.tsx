import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { all, call } from '#clients/web/session.ts';

/** Identities at the identity provider that sign in as this user. */
export const Identities = () => {
  const live = useLive(
    'identities',
    async () => (await all<'identities'>('/account/identities')).data,
    () => 30_000,
  );
  const leaving = useSignal<Resource<'identities'> | undefined>(undefined);
  return (
    <Loaded live={live} what="identities">
      {(identities) =>
        identities.length > 0 && (
          <section class="stack" aria-label="Identities">
            <h2>Connected identities</h2>
            <ul class="panel list">
              {identities.map((identity) => (
                <li key={identity.id} class="item">
                  <span class="title">{identity.attributes.subject}</span>
                  <span class="meta">
                    {new URL(identity.attributes.issuer).host} · connected{' '}
                    <Ago at={identity.attributes['created-at']} />
                  </span>
                  <span class="end">
                    <SmallButton
                      text="Disconnect"
                      of={identity.attributes.subject}
                      danger
                      onClick={() => (leaving.value = identity)}
                    />
                  </span>
                </li>
              ))}
            </ul>
            {leaving.value && (
              <Confirm
                title={`Disconnect ${leaving.value.attributes.subject}?`}
                yes="Disconnect"
                onYes={() => call('DELETE', `/account/identities/${leaving.value?.id}`)}
                onClose={() => {
                  leaving.value = undefined;
                  live.refresh();
                }}
              >
                <p>You can no longer sign in with it, and its sessions end. API tokens stay valid.</p>
              </Confirm>
            )}
          </section>
        )
      }
    </Loaded>
  );
};
