import type { Resource } from '#clients/client/client.ts';
import { TokensOf } from '#clients/web/parts/tokens.tsx';

/** Team tokens, for users with permission to manage them. */
export const TeamTokens = ({ team }: { team: Resource<'teams'> }) => (
  <TokensOf
    owner={team}
    mayChange={team.attributes.permissions['can-update-api-token']}
    none="No tokens yet. Create one to give a program, such as your CI, the permissions of this team."
  />
);
