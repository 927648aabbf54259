import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { askForWays, depart, failed, ways } from '#clients/web/issuer.ts';
import { useLive } from '#clients/web/live.ts';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Button } from '#clients/web/parts/button.tsx';
import { HelpLink } from '#clients/web/parts/help-link.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { ThemeButton } from '#clients/web/parts/theme.tsx';
import { CreatedToken, NewToken, TokenList } from '#clients/web/parts/tokens.tsx';
import { all, get, isSession } from '#clients/web/session.ts';
import { Identities } from './identities.tsx';
import { SlackLinks } from './slack-links.tsx';

/** The user's own API tokens; `terraform login` opens this view. */

interface ViewData {
  user: Resource<'users'>;
  tokens: Resource<'authentication-tokens'>[];
}

const load = async (): Promise<ViewData> => {
  const user = await get<'users'>('/account/details');
  return { user, tokens: (await all<'authentication-tokens'>(`/users/${user.id}/authentication-tokens`)).data };
};

export const Tokens = () => {
  const live = useLive('tokens', load, 30_000);
  const secret = useSignal<string | undefined>(undefined);
  const user = live.value?.user;
  const fromTerraform = new URLSearchParams(location.search).get('source') === 'terraform-login';
  const show = (created: string) => {
    secret.value = created;
    live.refresh();
  };
  return (
    <Shell title="Tokens" crumbs={[{ text: 'Tokens' }]}>
      <div class="row spread">
        <h1>API tokens</h1>
        <span class="only-narrow">
          <HelpLink />
          <ThemeButton />
        </span>
        <NewToken
          primary
          text="New token"
          title="New API token"
          path={`/users/${user?.id}/authentication-tokens`}
          disabled={!user}
          described
          onMade={show}
        />
      </div>
      {fromTerraform && !secret.value && (
        <Notice>
          <code>terraform login</code> is waiting for a token. Create one here and paste it into the terminal.
        </Notice>
      )}
      <CreatedToken secret={secret.value} />
      <Connect />
      <Loaded live={live} what="tokens">
        {({ tokens }) => (
          <TokenList
            tokens={tokens}
            none="No tokens yet. Create one to use the terraform command line or the API as yourself."
            mayRevoke
            onChange={live.refresh}
          />
        )}
      </Loaded>
      {/* Tokens of teams and organizations cannot sign in. */}
      {user?.attributes['is-service-account'] === false && <Identities />}
      {user?.attributes['is-service-account'] === false && <SlackLinks />}
    </Shell>
  );
};

/** For users who signed in with a token and could use the identity provider as the same user. */
const Connect = () => {
  useEffect(() => {
    askForWays().catch(() => {});
  }, []);
  if (ways.value.length === 0 || isSession.value) return null;
  const names = ways.value.map(({ name }) => name).join(' or ');
  return (
    <section class="panel pad stack">
      {failed.value && <Notice kind="bad">{failed.value}</Notice>}
      <p>You signed in with a token. Connect {names} to sign in with it as the same user.</p>
      <div class="row ends">
        {ways.value.map((way) => (
          <Button key={way.path} text={`Connect with ${way.name}`} onClick={() => depart(way, { connects: true })} />
        ))}
      </div>
    </section>
  );
};
