import { explorerKeys } from './explorer-keys.ts';
import { foldCase as lower } from './fold-case.ts';
import { ipAllowlistKeys } from './ip-allowlist-keys.ts';
import { type Key, padded, sortable } from './key.ts';
import { notificationKeys } from './notification-keys.ts';
import { policyKeys } from './policy-keys.ts';
import { registryKeys } from './registry-keys.ts';
import { versionControlKeys } from './version-control-keys.ts';

export { padded } from './key.ts';
export { objects } from './object-keys.ts';
export type { PolicyScope } from './policy-keys.ts';
export type { Key };

/** Workspaces, variable sets and modules have variables; the parameters of policy sets are stored the same way. */
export const isVariableSet = (ownerId: string): boolean => ownerId.startsWith('varset-');
export const isPolicySet = (ownerId: string): boolean => ownerId.startsWith('polset-');
/** A module's variables are for its tests; a test run has the module in place of a workspace. */
export const isModule = (ownerId: string): boolean => ownerId.startsWith('mod-');
const variableOwner = (ownerId: string): string => {
  if (isVariableSet(ownerId)) return `VARSET#${ownerId}`;
  if (isPolicySet(ownerId)) return `POLSET#${ownerId}`;
  return `${isModule(ownerId) ? 'MOD' : 'WS'}#${ownerId}`;
};

/** Partitions of a day's audit trail: each accepts 1,000 writes a second (DynamoDB: quotas). */
export const auditShards = 4;
const auditShard = (organization: string, day: string, shard: number): string =>
  `AUDIT#${organization}#${day}#${shard}`;

/**
 * The single table's layout: partition key `pk`, sort key `sk`, and one sparse index `due` (`dueShard`, `dueAt`).
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `ORG#<name>` | `ORG` | organization; after its deletion, a marker that reserves the name |
 * | | `WSNAME#<folded name>#<workspace name>` | → workspace id; unique names, and lists |
 * | | `PROJECT#<folded name>#<project name>` | → project id |
 * | | `MEMBER#<user id>` | → user id; the members, for lists |
 * | | `RUN#<created at>#<id>` | → run id; the organization's runs, for lists |
 * | | `OPEN#<created at>#<id>` | → run id; only until it has ended |
 * | | `ASSESSING#<run id>`, `TESTING#<run id>`, `QUERYING#<run id>` | health assessment, test run or query run in progress |
 * | | `VARSET#<folded name>#<project id, if it owns it>#<name>` | → variable set id; unique names |
 * | | `GLOBALVARSET#<id>` | → variable set id; sets applied to every workspace |
 * | | `TASKNAME#<name>` | → run task id; unique names |
 * | | `APOOLNAME#<name>` | → agent pool id; unique names |
 * | | `GLOBALTASK#<id>` | → run task id; tasks of all workspaces |
 * | | `POLICY#<name>`, `POLSET#<name>`, `PROVSET#<name>` | → policy, policy set or provider set id; unique names |
 * | | `TEAMNAME#<lower case>` | → team id; unique names |
 * | | `TEAMTOKEN#<id>` | → hash of the token of one of its teams |
 * | | `OC#<created at>#<id>` | → OAuth client, for lists |
 * | | `DELETED#<workspace id>` | → recoverable workspace, for lists |
 * | | `GLOBALPOLICYSETS` | ids of policy sets that may apply to all of its workspaces |
 * | `ORGNAME#<lower case>` | `ORGNAME` | → name of the organization; unique names |
 * | `PROJECT#<id>` | `PROJECT` | project |
 * | | `WSNAME#<folded name>#<workspace name>` | → workspace id, for lists |
 * | | `POLICYSETS` | ids of policy sets that may apply to it |
 * | | `VARSET#<id>` | → variable set that may apply to it |
 * | | `OWNVARSET#<id>` | → variable set that it may own |
 * | `USER#<id>` | `USER` | user |
 * | | `ORG#<name>` | membership of the user in the organization |
 * | | `TOKEN#<id>` | → hash of the user's token; also of an agent pool's token, by the pool's id |
 * | | `IDENTITY#<sha-256>` | → identity (issuer and subject) of the user |
 * | | `ONCE` | one-time secret that signs the user in |
 * | `USERNAME#<lower case>` | `USERNAME` | → user with the present or former name |
 * | `TEAM#<id>` | `TEAM` | team, with its permissions in the organization |
 * | | `USERS` | ids of its members |
 * | | `GRANT#<id>` | → workspace or project with a grant for it |
 * | `OU#<id>` | `OU` | → membership, by its id in the API |
 * | `EMAIL#<address>` | `EMAIL` | → user with the verified or invited address |
 * | `GRANT#<id>` | `GRANT` | → team, and workspace or project, which have the details |
 * | `TOKEN#<sha-256>` | `TOKEN` | API token |
 * | `TOKENID#<id>` | `TOKEN` | → hash of the token |
 * | | `MADE#<sha-256>` | → token that was created with this one |
 * | `LOGIN#<sha-256>` | `LOGIN` | code of a `terraform login` in progress |
 * | `IDENTITY#<sha-256>` | `IDENTITY` | → user with this identity |
 * | | `SESSION#<sha-256>` | → session of this identity |
 * | `SSOGROUP#<sha-256>` | `TEAMS` | → teams that the issuer's group maps to |
 * | `WS#<id>` | `WS` | workspace: settings, lock, counters, current state version |
 * | | `AUTODESTROY` | time of the next auto-destroy check |
 * | | `HEALTH` | time of the next health check |
 * | | `RETENTION` | time of the next retention check; also below an organization, for its workspaces |
 * | | `ASSESSMENT#<at>#<run id>` | result of an assessment |
 * | | `QUERY#<created at>#<run id>` | → query run |
 * | | `VAR#<id>` | variable |
 * | | `VARKEY#<category>#<key>` | → variable id; unique keys |
 * | | `VARSET#<id>` | → variable set that may apply to it |
 * | | `RUN#<number>` | → run id; every run, for lists |
 * | | `QUEUE#<place>#<run id>` | place in the queue (lifecycle/queue/places.ts) |
 * | | `WSPOLICYSETS` | ids of policy sets that may apply to it |
 * | | `WSTASK#<id>` | workspace run task: the task's stages and enforcement level in it |
 * | | `CONSUMER#<workspace id>` | → workspace whose runs can read the state |
 * | | `TRIGGERIN#<workspace id>` | → run trigger that can queue runs here; one for each source |
 * | | `TRIGGEROUT#<workspace id>` | → run trigger that an apply here can fire |
 * | | `CV#<created at>#<id>` | → configuration version id |
 * | | `SV#<serial>#<id>` | → state version id |
 * | `ENVLOG#<Run.environment>` | `LOGFOLLOWER#<connection id>` | connection that follows the log of an environment's job |
 * | `RUN#<id>` | `RUN` | run with its plan and apply |
 * | | `EVENT#<rest of its id>` | run event; the rest of its id is the time |
 * | | `COMMENT#<number>` | comment |
 * | | `TASKRESULT#<rest of its id>` | task result; the rest of its id includes the stage |
 * | | `PLANEXPORT` | → its plan's latest export |
 * | `PE#<id>` | `PE` | plan export |
 * | `APOOL#<id>` | `APOOL` | agent pool |
 * | | `AGENT#<rest of its id>` | agent |
 * | | `JOB#<queued at>#<run id>#<phase>` | → run whose phase waits for an agent |
 * | | `USE#<id>` | → workspace that uses it; project or organization whose default it is; OAuth client |
 * | `TASK#<id>` | `TASK` | run task |
 * | | `WSTASK#<workspace id>` | → workspace that uses it |
 * | `VARSET#<id>` | `VARSET` | variable set, with its scopes |
 * | | `VAR#<id>`, `VARKEY#…` | its variables, as a workspace's |
 * | | `POLICIES#<evaluation or check>` | results of its policies |
 * | `PROVSET#<id>` | `PROVSET` | provider set, with its scopes |
 * | `SHAREDPROVIDER#<address>#<version>#<platform>` | `PACKAGE` | package of a public registry |
 * | `SHAREDPROVIDERFETCHES#<of>#<day>` | `COUNT` | number of fetches that day |
 * | `RT#<id>` | `RT` | run trigger |
 * | `CV#<id>` | `CV` | configuration version |
 * | `SV#<id>` | `SV` | state version |
 * | | | other subjects: notification-keys.ts, version-control-keys.ts, registry-keys.ts, ip-allowlist-keys.ts |
 * | `AUDIT#<organization>#<day>#<shard>` | `<time>#<id>` | a user's action, or rejected attempt |
 * | | `<time>#<id>#FAILED` | marker that the action failed |
 * | `REQUESTS#<caller>` | `<second>` | number of the caller's requests in that window; only for callers with many requests |
 * | `BANNERS` | `BANNERS` | announcements to all users |
 * | `DRAIN` | `DRAIN` | reason why no run is created now; only while the platform is drained |
 * | `WARM` | `POOL` | ids of warm runners, ready or starting |
 * | `WARM#<id>` | `WARM` | warm runner: started before a run needs it |
 * | `LOG#<run id>#<phase>` | `<offset>` | piece of a log while the phase runs |
 */
export const keys = {
  organization: (name: string): Key => ({ pk: `ORG#${name}`, sk: 'ORG' }),
  organizationName: (name: string): Key => ({ pk: `ORGNAME#${lower(name)}`, sk: 'ORGNAME' }),
  workspaceName: (organization: string, name: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `WSNAME#${sortable(name)}`,
  }),
  recoverable: (organization: string, workspaceId: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `DELETED#${workspaceId}`,
  }),
  projectWorkspace: (projectId: string, name: string): Key => ({
    pk: `PROJECT#${projectId}`,
    sk: `WSNAME#${sortable(name)}`,
  }),
  projectName: (organization: string, name: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `PROJECT#${sortable(name)}`,
  }),
  project: (id: string): Key => ({ pk: `PROJECT#${id}`, sk: 'PROJECT' }),
  user: (id: string): Key => ({ pk: `USER#${id}`, sk: 'USER' }),
  membership: (userId: string, organization: string): Key => ({ pk: `USER#${userId}`, sk: `ORG#${organization}` }),
  member: (organization: string, userId: string): Key => ({ pk: `ORG#${organization}`, sk: `MEMBER#${userId}` }),
  organizationRun: (organization: string, createdAt: string, id: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `RUN#${createdAt}#${id}`,
  }),
  openRun: (organization: string, createdAt: string, id: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `OPEN#${createdAt}#${id}`,
  }),
  teamName: (organization: string, name: string): Key => ({ pk: `ORG#${organization}`, sk: `TEAMNAME#${lower(name)}` }),
  team: (id: string): Key => ({ pk: `TEAM#${id}`, sk: 'TEAM' }),
  teamUsers: (id: string): Key => ({ pk: `TEAM#${id}`, sk: 'USERS' }),
  membershipId: (id: string): Key => ({ pk: `OU#${id}`, sk: 'OU' }),
  email: (email: string): Key => ({ pk: `EMAIL#${lower(email)}`, sk: 'EMAIL' }),
  grantOfTeam: (teamId: string, id: string): Key => ({ pk: `TEAM#${teamId}`, sk: `GRANT#${id}` }),
  teamGrant: (id: string): Key => ({ pk: `GRANT#${id}`, sk: 'GRANT' }),
  userToken: (userId: string, id: string): Key => ({ pk: `USER#${userId}`, sk: `TOKEN#${id}` }),
  oneTimeSecret: (userId: string): Key => ({ pk: `USER#${userId}`, sk: 'ONCE' }),
  token: (hash: string): Key => ({ pk: `TOKEN#${hash}`, sk: 'TOKEN' }),
  tokenId: (id: string): Key => ({ pk: `TOKENID#${id}`, sk: 'TOKEN' }),
  teamToken: (organization: string, id: string): Key => ({ pk: `ORG#${organization}`, sk: `TEAMTOKEN#${id}` }),
  madeToken: (id: string, hash: string): Key => ({ pk: `TOKENID#${id}`, sk: `MADE#${hash}` }),
  loginCode: (hash: string): Key => ({ pk: `LOGIN#${hash}`, sk: 'LOGIN' }),
  identity: (hash: string): Key => ({ pk: `IDENTITY#${hash}`, sk: 'IDENTITY' }),
  identityOfUser: (userId: string, hash: string): Key => ({ pk: `USER#${userId}`, sk: `IDENTITY#${hash}` }),
  identitySession: (hash: string, tokenHash: string): Key => ({ pk: `IDENTITY#${hash}`, sk: `SESSION#${tokenHash}` }),
  username: (name: string): Key => ({ pk: `USERNAME#${lower(name)}`, sk: 'USERNAME' }),
  ssoGroup: (hash: string): Key => ({ pk: `SSOGROUP#${hash}`, sk: 'TEAMS' }),
  workspace: (id: string): Key => ({ pk: `WS#${id}`, sk: 'WS' }),
  variable: (ownerId: string, id: string): Key => ({ pk: variableOwner(ownerId), sk: `VAR#${id}` }),
  variableKey: (ownerId: string, category: string, key: string): Key => ({
    pk: variableOwner(ownerId),
    sk: `VARKEY#${category}#${key}`,
  }),
  variableSet: (id: string): Key => ({ pk: `VARSET#${id}`, sk: 'VARSET' }),
  variableSetName: (organization: string, projectId: string | undefined, name: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `VARSET#${sortable(name, projectId ?? '')}`,
  }),
  globalVariableSet: (organization: string, id: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `GLOBALVARSET#${id}`,
  }),
  workspaceVariableSet: (workspaceId: string, id: string): Key => ({ pk: `WS#${workspaceId}`, sk: `VARSET#${id}` }),
  ownVariableSet: (projectId: string, id: string): Key => ({ pk: `PROJECT#${projectId}`, sk: `OWNVARSET#${id}` }),
  projectVariableSet: (projectId: string, id: string): Key => ({ pk: `PROJECT#${projectId}`, sk: `VARSET#${id}` }),
  runNumber: (workspaceId: string, n: number): Key => ({ pk: `WS#${workspaceId}`, sk: `RUN#${padded(n)}` }),
  queued: (workspaceId: string, place: number, runId: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `QUEUE#${String(place).padStart(16, '0')}#${runId}`,
  }),
  consumer: (workspaceId: string, consumerId: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `CONSUMER#${consumerId}`,
  }),
  ...policyKeys,
  providerSet: (id: string): Key => ({ pk: `PROVSET#${id}`, sk: 'PROVSET' }),
  providerSetName: (organization: string, name: string): Key => ({ pk: `ORG#${organization}`, sk: `PROVSET#${name}` }),
  autoDestroy: (workspaceId: string): Key => ({ pk: `WS#${workspaceId}`, sk: 'AUTODESTROY' }),
  workspaceRetention: (workspaceId: string): Key => ({ pk: `WS#${workspaceId}`, sk: 'RETENTION' }),
  organizationRetention: (name: string): Key => ({ pk: `ORG#${name}`, sk: 'RETENTION' }),
  healthTimer: (workspaceId: string): Key => ({ pk: `WS#${workspaceId}`, sk: 'HEALTH' }),
  assessment: (workspaceId: string, at: string, runId: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `ASSESSMENT#${at}#${runId}`,
  }),
  query: (workspaceId: string, createdAt: string, runId: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `QUERY#${createdAt}#${runId}`,
  }),
  querying: (organization: string, runId: string): Key => ({ pk: `ORG#${organization}`, sk: `QUERYING#${runId}` }),
  assessing: (organization: string, runId: string): Key => ({ pk: `ORG#${organization}`, sk: `ASSESSING#${runId}` }),
  sshKey: (id: string): Key => ({ pk: `SSHKEY#${id}`, sk: 'SSHKEY' }),
  sshKeyOf: (organization: string, id: string): Key => ({ pk: `ORG#${organization}`, sk: `SSHKEY#${id}` }),
  sshKeyUse: (id: string, workspaceId: string): Key => ({ pk: `SSHKEY#${id}`, sk: `USE#${workspaceId}` }),
  reservedTagKey: (id: string): Key => ({ pk: `RTK#${id}`, sk: 'RTK' }),
  reservedTagKeyName: (organization: string, key: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `RESERVEDTAG#${key}`,
  }),
  planExport: (id: string): Key => ({ pk: `PE#${id}`, sk: 'PE' }),
  planExportOf: (runId: string): Key => ({ pk: `RUN#${runId}`, sk: 'PLANEXPORT' }),
  runTrigger: (id: string): Key => ({ pk: `RT#${id}`, sk: 'RT' }),
  runTriggerIn: (workspaceId: string, sourceId: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `TRIGGERIN#${sourceId}`,
  }),
  runTriggerOut: (workspaceId: string, targetId: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `TRIGGEROUT#${targetId}`,
  }),
  run: (id: string): Key => ({ pk: `RUN#${id}`, sk: 'RUN' }),
  logFollower: (job: string, connectionId: string): Key => ({
    pk: `ENVLOG#${job}`,
    sk: `LOGFOLLOWER#${connectionId}`,
  }),
  runEvent: (id: string, rest: string): Key => ({ pk: `RUN#${id}`, sk: `EVENT#${rest}` }),
  runComment: (id: string, n: number): Key => ({ pk: `RUN#${id}`, sk: `COMMENT#${padded(n)}` }),
  taskResult: (runId: string, rest: string): Key => ({ pk: `RUN#${runId}`, sk: `TASKRESULT#${rest}` }),
  agentPool: (id: string): Key => ({ pk: `APOOL#${id}`, sk: 'APOOL' }),
  agentPoolName: (organization: string, name: string): Key => ({ pk: `ORG#${organization}`, sk: `APOOLNAME#${name}` }),
  agentPoolUse: (id: string, userId: string): Key => ({ pk: `APOOL#${id}`, sk: `USE#${userId}` }),
  agent: (poolId: string, rest: string): Key => ({ pk: `APOOL#${poolId}`, sk: `AGENT#${rest}` }),
  agentJob: (poolId: string, queuedAt: string, runId: string, phase: string): Key => ({
    pk: `APOOL#${poolId}`,
    sk: `JOB#${queuedAt}#${runId}#${phase}`,
  }),
  task: (id: string): Key => ({ pk: `TASK#${id}`, sk: 'TASK' }),
  ...registryKeys,
  taskName: (organization: string, name: string): Key => ({ pk: `ORG#${organization}`, sk: `TASKNAME#${name}` }),
  globalTask: (organization: string, id: string): Key => ({ pk: `ORG#${organization}`, sk: `GLOBALTASK#${id}` }),
  taskWorkspace: (id: string, workspaceId: string): Key => ({ pk: `TASK#${id}`, sk: `WSTASK#${workspaceId}` }),
  workspaceTask: (workspaceId: string, id: string): Key => ({ pk: `WS#${workspaceId}`, sk: `WSTASK#${id}` }),
  ...notificationKeys,
  ...versionControlKeys,
  ...explorerKeys,
  ...ipAllowlistKeys,
  configurationVersion: (id: string): Key => ({ pk: `CV#${id}`, sk: 'CV' }),
  workspaceConfigurationVersion: (workspaceId: string, createdAt: string, id: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `CV#${createdAt}#${id}`,
  }),
  stateVersion: (id: string): Key => ({ pk: `SV#${id}`, sk: 'SV' }),
  workspaceStateVersion: (workspaceId: string, serial: number, id: string): Key => ({
    pk: `WS#${workspaceId}`,
    sk: `SV#${padded(serial)}#${id}`,
  }),
  auditShard,
  auditEvent: ({ organization, at, id }: { organization: string; at: string; id: string }): Key => ({
    pk: auditShard(organization, at.slice(0, 10), Number.parseInt(id.slice(0, 4), 16) % auditShards),
    sk: `${at}#${id}`,
  }),
  requestCount: (caller: string, second: number): Key => ({ pk: `REQUESTS#${caller}`, sk: padded(second) }),
  banners: { pk: 'BANNERS', sk: 'BANNERS' } satisfies Key,
  drain: { pk: 'DRAIN', sk: 'DRAIN' } satisfies Key,
  warmPool: { pk: 'WARM', sk: 'POOL' } satisfies Key,
  warmRunner: (id: string): Key => ({ pk: `WARM#${id}`, sk: 'WARM' }),
  log: (runId: string, phase: string, offset: number): Key => ({ pk: `LOG#${runId}#${phase}`, sk: padded(offset) }),
};
