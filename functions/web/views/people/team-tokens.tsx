import type { Resource } from '../../../client/client.ts';
import { TokensOf } from '../../parts/tokens.tsx';

/** Tokens of programs that act as a team; for who may manage them. */
export const TeamTokens = ({ team }: { team: Resource }) => (
  <TokensOf
    owner={team}
    mayChange={team.attributes.permissions['can-update-api-token']}
    none="There are none. A program that uses a token of the team, such as your CI, may do what the team may, and stays when people leave."
  />
);
