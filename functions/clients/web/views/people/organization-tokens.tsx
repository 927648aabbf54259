import { useSignal } from '@preact/signals';
import { useLive } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { CreatedToken, NewToken, Revoke, TokenDates } from '#clients/web/parts/tokens.tsx';
import { find } from '#clients/web/session.ts';

/** The organization token and the audit trail token, for users with permission to manage them. */
export const OrganizationTokens = ({ organization }: OrganizationProps) => {
  const path = `/organizations/${organization}/authentication-token`;
  return (
    <Panel title="Organization tokens" label="Tokens">
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
    </Panel>
  );
};

const OneToken = ({ name, path, says }: { name: string; path: string; says: string }) => {
  const live = useLive(path, () => find<'authentication-tokens'>(path), 30_000);
  const secret = useSignal<string | undefined>(undefined);
  const show = (created: string | undefined) => {
    secret.value = created;
    live.refresh();
  };
  return (
    <div class="stack tight">
      <h3>{name}</h3>
      <p class="soft small">{says}</p>
      <Loaded live={live} what="token">
        {(token) => {
          const text = token ? 'Replace' : 'Create';
          return (
            <div class="row spread">
              <span class="small grow">{token ? <TokenDates token={token} /> : 'No token yet.'}</span>
              <span class="row">
                <NewToken small text={text} label={`${text}: ${name}`} title={name} path={path} onMade={show}>
                  {token && <p>The current token is revoked immediately. Update every program that uses it.</p>}
                </NewToken>
                {token && <Revoke name={name} label={`Revoke: ${name}`} path={path} onClose={() => show(undefined)} />}
              </span>
            </div>
          );
        }}
      </Loaded>
      <CreatedToken secret={secret.value} />
    </div>
  );
};
