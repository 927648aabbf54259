import { useSignal } from '@preact/signals';
import { ApiError, type Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { CreatedToken, NewToken, Revoke, TokenDates, useTokenWork } from '#clients/web/parts/tokens.tsx';
import { get } from '#clients/web/session.ts';

/** The organization token and the audit trail token, for users with permission to manage them. */
export const OrganizationTokens = ({ organization }: { organization: string }) => {
  const path = `/organizations/${organization}/authentication-token`;
  return (
    <section class="panel pad stack" aria-label="Tokens">
      <h2>Organization tokens</h2>
      <OneToken
        name="Organization token"
        path={path}
        says="Manages teams, workspaces, variables and policies. It cannot start or apply runs: use a team token for that."
      />
      <OneToken
        name="Audit trail token"
        path={`${path}?token=audit-trails`}
        says="Reads the audit trail only. For export to a monitoring system."
      />
    </section>
  );
};

/** 404: no token yet. */
const find = async (path: string): Promise<Resource | null> => {
  try {
    return await get(path);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
};

const OneToken = ({ name, path, says }: { name: string; path: string; says: string }) => {
  const live = useLive(
    path,
    () => find(path),
    () => 30_000,
  );
  const { adding, createdSecret } = useTokenWork();
  const revoking = useSignal(false);
  const close = () => {
    adding.value = false;
    revoking.value = false;
    live.refresh();
  };
  return (
    <div class="stack tight">
      <h3>{name}</h3>
      <p class="soft small">{says}</p>
      <Loaded live={live} what="token">
        {(token) => (
          <div class="row spread">
            <span class="small grow">{token ? <TokenDates token={token} /> : 'No token yet.'}</span>
            <span class="row">
              <button
                type="button"
                class="small-button"
                aria-label={`${token ? 'Replace' : 'Create'}: ${name}`}
                onClick={() => (adding.value = true)}
              >
                {token ? 'Replace' : 'Create'}
              </button>
              {token && (
                <button
                  type="button"
                  class="small-button danger"
                  aria-label={`Revoke: ${name}`}
                  onClick={() => (revoking.value = true)}
                >
                  Revoke
                </button>
              )}
            </span>
          </div>
        )}
      </Loaded>
      {createdSecret.value && <CreatedToken secret={createdSecret.value} />}
      {adding.value && (
        <NewToken
          title={name}
          path={path}
          described={false}
          onClose={close}
          onMade={(secret) => {
            createdSecret.value = secret;
            close();
          }}
        >
          {live.value && <p>The current token is revoked immediately. Update every program that uses it.</p>}
        </NewToken>
      )}
      {revoking.value && (
        <Revoke
          name={name}
          path={path}
          onClose={() => {
            createdSecret.value = undefined;
            close();
          }}
        />
      )}
    </div>
  );
};
