import { expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/**
 * Permission to create credentials and to join teams: HCP Terraform's access levels of API tokens and its
 * organization permissions. One table, because each cell is a way for a token to gain rights that it lacks.
 */

const api = await startApi();
const members = await memberHelpers();

const callers = [
  'owner',
  'owners team token',
  'organization token',
  'manage-organization-access',
  'manage-teams',
  'manage-membership',
  'manage-agent-pools',
  'member of a team',
  'token of that team',
  'audit trail token',
] as const;
type CallerName = (typeof callers)[number];

interface Caller {
  token: string;
  userId: string;
  teamId: string;
}

const tokenOf = async (path: string, attributes: object = {}): Promise<string> =>
  (await api.post(path, attributes)).body.data.attributes.token;

const ownersTeam = async (): Promise<string> =>
  (await api.get('organizations/acme/teams?filter[names]=owners')).body.data[0].id;

const newTeam = async (): Promise<string> =>
  (await api.post('organizations/acme/teams', { name: uniqueName('crew'), visibility: 'organization' })).body.data.id;

const callerNamed = async (name: CallerName): Promise<Caller> => {
  const acting = async (token: string, teamId: string): Promise<Caller> => {
    const { status, body } = await api.get('account/details', { token });
    return { token, userId: status === 200 ? body.data.id : api.userId, teamId };
  };
  const inTeam = async (...flags: Parameters<typeof members.withFlags> extends [string, ...infer F] ? F : never) => {
    const { id, token, team } = await members.withFlags('acme', ...flags);
    return { userId: id, token, teamId: team.id };
  };
  const organizationToken = 'organizations/acme/authentication-token';
  switch (name) {
    case 'owner':
      return acting(api.token, await newTeam());
    case 'owners team token':
      return acting(
        await tokenOf(`teams/${await ownersTeam()}/authentication-tokens`, { description: uniqueName('t') }),
        await newTeam(),
      );
    case 'organization token':
      return acting(await tokenOf(organizationToken), await newTeam());
    case 'audit trail token':
      return acting(await tokenOf(`${organizationToken}?token=audit-trails`), await newTeam());
    case 'member of a team':
      return inTeam();
    case 'token of that team': {
      const { teamId } = await inTeam();
      return acting(await tokenOf(`teams/${teamId}/authentication-tokens`, { description: uniqueName('t') }), teamId);
    }
    default:
      return inTeam(name);
  }
};

type Attempt = (caller: Caller) => Promise<number>;

const post = async ({ token }: Caller, path: string, attributes: object = {}, relationships = {}): Promise<number> =>
  (await api.post(path, attributes, relationships, { token })).status;

const describedToken = () => ({ description: uniqueName('token') });

const enter = async ({ token }: Caller, teamId: string): Promise<number> => {
  const { id } = await members.member('acme');
  const body = { data: [{ type: 'users', id }] };
  return (await api.call('POST', `teams/${teamId}/relationships/users`, { token, body })).status;
};

const invite = (caller: Caller, teamId: string): Promise<number> =>
  post(
    caller,
    'organizations/acme/organization-memberships',
    { email: `${uniqueName('new')}@example.test` },
    { teams: { data: [{ type: 'teams', id: teamId }] } },
  );

const removeOwner = async ({ token }: Caller): Promise<number> => {
  const { id } = await members.member('acme');
  const body = { data: [{ type: 'users', id }] };
  await api.call('POST', `teams/${await ownersTeam()}/relationships/users`, { body });
  const { membershipId } = await import('#resources/users/memberships.ts');
  const membership = membershipId({ organization: 'acme', userId: id });
  return (await api.call('DELETE', `organization-memberships/${membership}`, { token })).status;
};

const ownersGroup = async ({ token }: Caller): Promise<number> => {
  const body = { data: { type: 'teams', attributes: { 'sso-team-id': uniqueName('group') } } };
  return (await api.call('PATCH', `teams/${await ownersTeam()}`, { token, body })).status;
};

const withAccess: Attempt = (caller) =>
  post(caller, 'organizations/acme/teams', {
    name: uniqueName('crew'),
    visibility: 'organization',
    'organization-access': { 'manage-workspaces': true },
  });

const agentToken: Attempt = async (caller) => {
  const pool = (await api.post('organizations/acme/agent-pools', { name: uniqueName('pool') })).body.data.id;
  return post(caller, `agent-pools/${pool}/authentication-tokens`, describedToken());
};

const asOwner: CallerName[] = ['owner', 'owners team token'];
const asTeamManager: CallerName[] = [...asOwner, 'organization token', 'manage-organization-access', 'manage-teams'];
const asMemberManager: CallerName[] = [...asTeamManager, 'manage-membership'];

const table: [string, CallerName[], Attempt][] = [
  [
    'a token of its own user',
    callers.filter((name) => !/token/.test(name)),
    (caller) => post(caller, `users/${caller.userId}/authentication-tokens`, describedToken()),
  ],
  ['an organization token', asOwner, (caller) => post(caller, 'organizations/acme/authentication-token')],
  [
    'an audit trail token',
    asOwner,
    (caller) => post(caller, 'organizations/acme/authentication-token?token=audit-trails'),
  ],
  [
    'a token of another visible team',
    asTeamManager,
    async (caller) => post(caller, `teams/${await newTeam()}/authentication-tokens`, describedToken()),
  ],
  [
    'a token of its own team',
    callers.filter((name) => name !== 'token of that team' && name !== 'audit trail token'),
    (caller) => post(caller, `teams/${caller.teamId}/authentication-tokens`, describedToken()),
  ],
  [
    'a token of the owners team',
    asOwner,
    async (caller) => post(caller, `teams/${await ownersTeam()}/authentication-tokens`, describedToken()),
  ],
  [
    'the legacy token of the owners team',
    asOwner,
    async (caller) => post(caller, `teams/${await ownersTeam()}/authentication-token`),
  ],
  ['an agent token', [...asOwner, 'organization token', 'manage-agent-pools'], agentToken],
  ['a member of a visible team', asMemberManager, async (caller) => enter(caller, await newTeam())],
  ['a member of the owners team', asOwner, async (caller) => enter(caller, await ownersTeam())],
  ['an invitation to a visible team', asMemberManager, async (caller) => invite(caller, await newTeam())],
  ['an invitation to the owners team', asOwner, async (caller) => invite(caller, await ownersTeam())],
  ['the group of the owners team', asOwner, ownersGroup],
  ['the end of an owner’s membership', asOwner, removeOwner],
  ['a team with access to the organization', [...asTeamManager.filter((name) => name !== 'manage-teams')], withAccess],
];

it.each(table)('only callers with permission can create or change %s', async (_, allowed, attempt) => {
  const succeeded: CallerName[] = [];
  for (const name of callers) {
    const status = await attempt(await callerNamed(name));
    if (status < 300) succeeded.push(name);
    else expect([name, [401, 403, 404].includes(status), status]).toEqual([name, true, status]);
  }
  expect(succeeded).toEqual(callers.filter((name) => allowed.includes(name)));
});
