import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Resource } from '../../cli/client.ts';
import { askForIssuer, depart, failed, issuer } from '../issuer.ts';
import { useLive } from '../live.ts';
import { Ago, Code, Loaded, Notice } from '../parts/basics.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { Form, Select, Text, textOf } from '../parts/form.tsx';
import { Shell } from '../parts/shell.tsx';
import { all, call, create, get, isSession } from '../session.ts';
import { exact } from '../text/time.ts';

/** Where `terraform login` leads to: the reader's own API tokens. */

interface Known {
  user: Resource;
  tokens: Resource[];
}

const load = async (): Promise<Known> => {
  const user = await get('/account/details');
  return { user, tokens: (await all(`/users/${user.id}/authentication-tokens`)).data };
};

/** By days. */
const lifetimes = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
  ['', 'until it is revoked'],
] as const;

export const Tokens = () => {
  const live = useLive('tokens', load, () => 30_000);
  const adding = useSignal(false);
  const made = useSignal<string | undefined>(undefined);
  const revoking = useSignal<Resource | undefined>(undefined);
  const fromTerraform = new URLSearchParams(location.search).get('source') === 'terraform-login';
  return (
    <Shell title="Tokens" crumbs={[{ text: 'Tokens' }]}>
      <div class="row spread">
        <h1>API tokens</h1>
        <button
          type="button"
          class="primary"
          onClick={() => {
            adding.value = true;
          }}
        >
          New token
        </button>
      </div>
      {fromTerraform && !made.value && (
        <Notice>
          <code>terraform login</code> waits for a token: make one here and paste it into the terminal.
        </Notice>
      )}
      {made.value && (
        <Notice kind="good">
          <div class="stack">
            <p>
              <strong>Copy it now:</strong> nobody, not even the platform, can show it again.
            </p>
            <Code label="new token" text={made.value} />
          </div>
        </Notice>
      )}
      <Connect />
      <Loaded live={live} what="tokens">
        {({ user, tokens }) => (
          <>
            <ul class="panel list" aria-label="Tokens">
              {tokens.map((token) => (
                <li key={token.id} class="item">
                  <span class="title">{token.attributes.description || 'no description'}</span>
                  <span class="meta">
                    <span class="mono">{token.id}</span> · made <Ago at={token.attributes['created-at']} /> ·{' '}
                    {token.attributes['expired-at'] ? `ends ${exact(token.attributes['expired-at'])}` : 'does not end'}
                  </span>
                  <span class="end">
                    <button
                      type="button"
                      class="small-button danger"
                      aria-label={`Revoke ${token.attributes.description || token.id}`}
                      onClick={() => {
                        revoking.value = token;
                      }}
                    >
                      Revoke
                    </button>
                  </span>
                </li>
              ))}
            </ul>
            {adding.value && (
              <NewToken
                userId={user.id}
                onClose={() => {
                  adding.value = false;
                }}
                onMade={(secret) => {
                  adding.value = false;
                  made.value = secret;
                  live.refresh();
                }}
              />
            )}
          </>
        )}
      </Loaded>
      {revoking.value && (
        <Revoke
          token={revoking.value}
          onClose={() => {
            revoking.value = undefined;
            live.refresh();
          }}
        />
      )}
    </Shell>
  );
};

/** For who has signed in with a token and could sign in at the issuer, as the same user. */
const Connect = () => {
  useEffect(() => {
    askForIssuer().catch(() => {});
  }, []);
  if (!issuer.value || isSession.value) return null;
  return (
    <section class="panel pad stack">
      {failed.value && <Notice kind="bad">{failed.value}</Notice>}
      <p>You have signed in with a token. You can sign in with {issuer.value} instead from now on, as the same user.</p>
      <div class="row ends">
        <button type="button" onClick={() => depart({ connects: true })}>
          Connect with {issuer.value}
        </button>
      </div>
    </section>
  );
};

const NewToken = ({ userId, onClose, onMade }: { userId: string; onClose(): void; onMade(secret: string): void }) => {
  const submit = async (data: FormData) => {
    const days = Number(data.get('days'));
    const token = await create(`/users/${userId}/authentication-tokens`, 'authentication-tokens', {
      description: textOf(data, 'description') ?? '',
      'expired-at': days ? new Date(Date.now() + days * 86_400_000).toISOString() : null,
    });
    onMade(token.attributes.token);
  };
  return (
    <Dialog title="New API token" onClose={onClose}>
      <Form submit="Make token" onSubmit={submit} onCancel={onClose}>
        <Text
          label="Description"
          name="description"
          required
          autoFocus
          hint="Where it will be used: laptop, CI of billing."
        />
        <Select label="Good for" name="days" options={lifetimes} />
      </Form>
    </Dialog>
  );
};

const Revoke = ({ token, onClose }: { token: Resource; onClose(): void }) => (
  <Confirm
    title={`Revoke ${token.attributes.description || token.id}?`}
    yes="Revoke"
    onYes={() => call('DELETE', `/authentication-tokens/${token.id}`)}
    onClose={onClose}
  >
    <p>Whoever uses it is turned away at once. If it is the one you signed in with, you are signed out.</p>
  </Confirm>
);
