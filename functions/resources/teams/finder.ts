import type { Finder } from '#api/route.ts';
import { getTeam } from './records.ts';
import type { Team } from './team.ts';

export const team: Finder<Team> = {
  what: 'team',
  parameter: 'team',
  find: (request) => getTeam(request.params.team ?? ''),
  visibleWith: 'team:read',
  scope: (team) => ({ organization: team.organization, team: team }),
};
