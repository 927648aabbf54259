import type { Resource } from '../../cli/client.ts';
import { useLive } from '../live.ts';
import { Loaded } from '../parts/basics.tsx';
import { Made, NewToken, Revoke, TokenList, useTokenWork } from '../parts/tokens.tsx';
import { all } from '../session.ts';

/** Tokens of programs that act as a team; for who may manage them. */
export const TeamTokens = ({ team }: { team: Resource }) => {
  const path = `/teams/${team.id}/authentication-tokens`;
  const live = useLive(
    `tokens of ${team.id}`,
    async () => (await all(path)).data,
    () => 30_000,
  );
  const { adding, made, revoking } = useTokenWork();
  const mayChange = team.attributes.permissions['can-update-api-token'];
  return (
    <section class="stack" aria-label="Tokens">
      <div class="row spread">
        <h2>Tokens</h2>
        {mayChange && (
          <button type="button" class="small-button" onClick={() => (adding.value = true)}>
            New token
          </button>
        )}
      </div>
      {made.value && <Made secret={made.value} />}
      <Loaded live={live} what="tokens">
        {(tokens) => (
          <TokenList
            tokens={tokens}
            none="There are none. A program that uses a token of the team, such as your CI, may do what the team may, and stays when people leave."
            onRevoke={mayChange && ((token) => (revoking.value = token))}
          />
        )}
      </Loaded>
      {adding.value && (
        <NewToken
          title={`New token of ${team.attributes.name}`}
          path={path}
          described
          onClose={() => (adding.value = false)}
          onMade={(secret) => {
            adding.value = false;
            made.value = secret;
            live.refresh();
          }}
        />
      )}
      {revoking.value && (
        <Revoke
          name={revoking.value.attributes.description || revoking.value.id}
          path={`/authentication-tokens/${revoking.value.id}`}
          onClose={() => {
            revoking.value = undefined;
            live.refresh();
          }}
        />
      )}
    </section>
  );
};
