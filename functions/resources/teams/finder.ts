import { byId } from '#api/finders.ts';
import { getTeam } from './records.ts';

export const team = byId({
  what: 'team',
  parameter: 'team',
  get: getTeam,
  visibleWith: 'team:read',
  scope: (team) => ({ organization: team.organization, team: team }),
});
