import { explorerKeys } from './explorer-keys.ts';
import { foldCase as lower } from './fold-case.ts';
import { ipAllowlistKeys } from './ip-allowlist-keys.ts';
import {
  type Key,
  ofAgentPool,
  ofOrganization,
  ofProject,
  ofRun,
  ofTeam,
  ofUser,
  ofWorkspace,
  padded,
  record,
  sortable,
} from './key.ts';
import { notificationKeys } from './notification-keys.ts';
import { policyKeys } from './policy-keys.ts';
import { registryKeys } from './registry-keys.ts';
import { scimKeys } from './scim-keys.ts';
import { signInKeys } from './sign-in-keys.ts';
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
 * The single table's layout: partition key `pk`, sort key `sk`, and two sparse indexes: `due` (`dueShard`, `dueAt`), and
 * `changed` (`changedIn`, `changedAt`), an organization's workspaces by latest change.
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
 * | | `RENAMED` | → key of the organization that has or had this name after its first one |
 * | | `ENVEND` | its templates and environments are being removed; only after its deletion |
 * | `USER#<id>` | `USER` | user |
 * | | `ORG#<name>` | membership of the user in the organization |
 * | | `TOKEN#<id>` | → hash of the user's token; also of an agent pool's token, by the pool's id |
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
 * | | | other subjects: notification-keys.ts, version-control-keys.ts, registry-keys.ts, ip-allowlist-keys.ts, scim-keys.ts, sign-in-keys.ts |
 * | `AUDIT#<organization>#<day>#<shard>` | `<time>#<id>` | a user's action, or rejected attempt |
 * | | `<time>#<id>#FAILED` | marker that the action failed |
 * | `AUDITEXPORT#<organization>` | `AUDITEXPORT` | endpoint to which the audit trail is exported |
 * | `REQUESTS#<caller>` | `<second>` | number of the caller's requests in that window; only for callers with many requests |
 * | `TOOLVERSIONS` | `<tool>` | versions of a policy engine that the operator added |
 * | `MODULEPRODUCERS` | `GLOBAL` | names of organizations that share their modules with every other one |
 * | `BANNERS` | `BANNERS` | announcements to all users |
 * | `DRAIN` | `DRAIN` | reason why no run is created now; only while the platform is drained |
 * | `SLOTS` | `SLOTS` | who has the slots of runners, and whose turn is next; only where the operator limits their number |
 * | `SLOTS#<organization>` | `WAIT#<order>#<queued at>#<run id>.<phase>` | → phase that waits for a slot |
 * | `WARM` | `POOL` | ids of warm runners, ready or starting |
 * | `WARM#<id>` | `WARM` | warm runner: started before a run needs it |
 * | `LOG#<run id>#<phase>` | `<offset>` | piece of a log while the phase runs |
 */
export const keys = {
  organization: record('ORG'),
  renamedOrganization: (name: string) => ofOrganization(name, 'RENAMED'),
  /** Present while environments of a deleted organization remain. */
  environmentsEnd: (name: string) => ofOrganization(name, 'ENVEND'),
  organizationName: (name: string): Key => ({ pk: `ORGNAME#${lower(name)}`, sk: 'ORGNAME' }),
  workspaceName: (organization: string, name: string) => ofOrganization(organization, `WSNAME#${sortable(name)}`),
  recoverable: (organization: string, workspaceId: string) => ofOrganization(organization, `DELETED#${workspaceId}`),
  projectWorkspace: (projectId: string, name: string) => ofProject(projectId, `WSNAME#${sortable(name)}`),
  projectName: (organization: string, name: string) => ofOrganization(organization, `PROJECT#${sortable(name)}`),
  project: record('PROJECT'),
  user: record('USER'),
  membership: (userId: string, organization: string) => ofUser(userId, `ORG#${organization}`),
  member: (organization: string, userId: string) => ofOrganization(organization, `MEMBER#${userId}`),
  organizationRun: (organization: string, createdAt: string, id: string) =>
    ofOrganization(organization, `RUN#${createdAt}#${id}`),
  openRun: (organization: string, createdAt: string, id: string) =>
    ofOrganization(organization, `OPEN#${createdAt}#${id}`),
  teamName: (organization: string, name: string) => ofOrganization(organization, `TEAMNAME#${lower(name)}`),
  team: record('TEAM'),
  teamUsers: (id: string) => ofTeam(id, 'USERS'),
  membershipId: record('OU'),
  email: (email: string): Key => ({ pk: `EMAIL#${lower(email)}`, sk: 'EMAIL' }),
  grantOfTeam: (teamId: string, id: string) => ofTeam(teamId, `GRANT#${id}`),
  teamGrant: record('GRANT'),
  userToken: (userId: string, id: string) => ofUser(userId, `TOKEN#${id}`),
  oneTimeSecret: (userId: string) => ofUser(userId, 'ONCE'),
  token: record('TOKEN'),
  tokenId: (id: string): Key => ({ pk: `TOKENID#${id}`, sk: 'TOKEN' }),
  teamToken: (organization: string, id: string) => ofOrganization(organization, `TEAMTOKEN#${id}`),
  madeToken: (id: string, hash: string): Key => ({ pk: `TOKENID#${id}`, sk: `MADE#${hash}` }),
  username: (name: string): Key => ({ pk: `USERNAME#${lower(name)}`, sk: 'USERNAME' }),
  workspace: record('WS'),
  variable: (ownerId: string, id: string): Key => ({ pk: variableOwner(ownerId), sk: `VAR#${id}` }),
  variableKey: (ownerId: string, category: string, key: string): Key => ({
    pk: variableOwner(ownerId),
    sk: `VARKEY#${category}#${key}`,
  }),
  variableSet: record('VARSET'),
  variableSetName: (organization: string, projectId: string | undefined, name: string) =>
    ofOrganization(organization, `VARSET#${sortable(name, projectId ?? '')}`),
  globalVariableSet: (organization: string, id: string) => ofOrganization(organization, `GLOBALVARSET#${id}`),
  workspaceVariableSet: (workspaceId: string, id: string) => ofWorkspace(workspaceId, `VARSET#${id}`),
  ownVariableSet: (projectId: string, id: string) => ofProject(projectId, `OWNVARSET#${id}`),
  projectVariableSet: (projectId: string, id: string) => ofProject(projectId, `VARSET#${id}`),
  runNumber: (workspaceId: string, n: number) => ofWorkspace(workspaceId, `RUN#${padded(n)}`),
  queued: (workspaceId: string, place: number, runId: string) =>
    ofWorkspace(workspaceId, `QUEUE#${String(place).padStart(16, '0')}#${runId}`),
  consumer: (workspaceId: string, consumerId: string) => ofWorkspace(workspaceId, `CONSUMER#${consumerId}`),
  ...policyKeys,
  providerSet: record('PROVSET'),
  providerSetName: (organization: string, name: string) => ofOrganization(organization, `PROVSET#${name}`),
  autoDestroy: (workspaceId: string) => ofWorkspace(workspaceId, 'AUTODESTROY'),
  workspaceRetention: (workspaceId: string) => ofWorkspace(workspaceId, 'RETENTION'),
  organizationRetention: (name: string) => ofOrganization(name, 'RETENTION'),
  healthTimer: (workspaceId: string) => ofWorkspace(workspaceId, 'HEALTH'),
  assessment: (workspaceId: string, at: string, runId: string) => ofWorkspace(workspaceId, `ASSESSMENT#${at}#${runId}`),
  query: (workspaceId: string, createdAt: string, runId: string) =>
    ofWorkspace(workspaceId, `QUERY#${createdAt}#${runId}`),
  querying: (organization: string, runId: string) => ofOrganization(organization, `QUERYING#${runId}`),
  assessing: (organization: string, runId: string) => ofOrganization(organization, `ASSESSING#${runId}`),
  sshKey: record('SSHKEY'),
  sshKeyOf: (organization: string, id: string) => ofOrganization(organization, `SSHKEY#${id}`),
  sshKeyUse: (id: string, workspaceId: string): Key => ({ pk: `SSHKEY#${id}`, sk: `USE#${workspaceId}` }),
  reservedTagKey: record('RTK'),
  reservedTagKeyName: (organization: string, key: string) => ofOrganization(organization, `RESERVEDTAG#${key}`),
  planExport: record('PE'),
  planExportOf: (runId: string) => ofRun(runId, 'PLANEXPORT'),
  runTrigger: record('RT'),
  runTriggerIn: (workspaceId: string, sourceId: string) => ofWorkspace(workspaceId, `TRIGGERIN#${sourceId}`),
  runTriggerOut: (workspaceId: string, targetId: string) => ofWorkspace(workspaceId, `TRIGGEROUT#${targetId}`),
  run: record('RUN'),
  logFollower: (job: string, connectionId: string): Key => ({
    pk: `ENVLOG#${job}`,
    sk: `LOGFOLLOWER#${connectionId}`,
  }),
  runEvent: (id: string, rest: string) => ofRun(id, `EVENT#${rest}`),
  runComment: (id: string, n: number) => ofRun(id, `COMMENT#${padded(n)}`),
  taskResult: (runId: string, rest: string) => ofRun(runId, `TASKRESULT#${rest}`),
  agentPool: record('APOOL'),
  agentPoolName: (organization: string, name: string) => ofOrganization(organization, `APOOLNAME#${name}`),
  agentPoolUse: (id: string, userId: string) => ofAgentPool(id, `USE#${userId}`),
  agent: (poolId: string, rest: string) => ofAgentPool(poolId, `AGENT#${rest}`),
  agentJob: (poolId: string, queuedAt: string, runId: string, phase: string) =>
    ofAgentPool(poolId, `JOB#${queuedAt}#${runId}#${phase}`),
  task: record('TASK'),
  ...registryKeys,
  taskName: (organization: string, name: string) => ofOrganization(organization, `TASKNAME#${name}`),
  globalTask: (organization: string, id: string) => ofOrganization(organization, `GLOBALTASK#${id}`),
  taskWorkspace: (id: string, workspaceId: string): Key => ({ pk: `TASK#${id}`, sk: `WSTASK#${workspaceId}` }),
  workspaceTask: (workspaceId: string, id: string) => ofWorkspace(workspaceId, `WSTASK#${id}`),
  ...notificationKeys,
  ...versionControlKeys,
  ...explorerKeys,
  ...ipAllowlistKeys,
  ...scimKeys,
  ...signInKeys,
  configurationVersion: record('CV'),
  workspaceConfigurationVersion: (workspaceId: string, createdAt: string, id: string) =>
    ofWorkspace(workspaceId, `CV#${createdAt}#${id}`),
  stateVersion: record('SV'),
  workspaceStateVersion: (workspaceId: string, serial: number, id: string) =>
    ofWorkspace(workspaceId, `SV#${padded(serial)}#${id}`),
  auditShard,
  auditEvent: ({ organization, at, id }: { organization: string; at: string; id: string }): Key => ({
    pk: auditShard(organization, at.slice(0, 10), Number.parseInt(id.slice(0, 4), 16) % auditShards),
    sk: `${at}#${id}`,
  }),
  auditExport: record('AUDITEXPORT'),
  requestCount: (caller: string, second: number): Key => ({ pk: `REQUESTS#${caller}`, sk: padded(second) }),
  toolVersions: (tool: string): Key => ({ pk: 'TOOLVERSIONS', sk: tool.toUpperCase() }),
  globalModuleProducers: { pk: 'MODULEPRODUCERS', sk: 'GLOBAL' } satisfies Key,
  banners: { pk: 'BANNERS', sk: 'BANNERS' } satisfies Key,
  drain: { pk: 'DRAIN', sk: 'DRAIN' } satisfies Key,
  slots: { pk: 'SLOTS', sk: 'SLOTS' } satisfies Key,
  /** @param order applies sort before plans */
  slotWait: (organization: string, order: string, queuedAt: string, name: string): Key => ({
    pk: `SLOTS#${organization}`,
    sk: `WAIT#${order}#${queuedAt}#${name}`,
  }),
  warmPool: { pk: 'WARM', sk: 'POOL' } satisfies Key,
  warmRunner: record('WARM'),
  log: (runId: string, phase: string, offset: number): Key => ({ pk: `LOG#${runId}#${phase}`, sk: padded(offset) }),
};
