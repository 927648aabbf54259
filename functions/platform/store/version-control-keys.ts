import { type Key, ofOauthClient, ofOrganization, ofRepository, ofUser, padded, record } from './key.ts';

/**
 * The part of the table's layout (keys.ts) for version control:
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `OC#<id>` | `OC` | OAuth client: a connection to version control |
 * | | `USE#<id>` | → workspace or policy set that uses it |
 * | | `REST#<repository>` | → repository without followers, until its webhook is deleted |
 * | | `ACCOUNT#<id at the forge>` | → user of the account |
 * | | `LINKED#<user id>` | → their account |
 * | `LINKCODE#<sha-256>` | `LINKCODE` | code that proves ownership of an account |
 * | `OT#<id>` | `OT` | token of an OAuth client |
 * | `OATTEMPT#<sha-256>` | `OATTEMPT` | authorization of an OAuth client in progress |
 * | `GHAIN#<id>` | `GHAIN` | installation of the GitHub App, linked to an organization |
 * | | `TOKEN#<repository>` | its token for one repository, sealed |
 * | `USER#<id>` | `GHAUTH` | a user's authorization of the GitHub App, for an hour |
 * | `REPO#<token>#<identifier>` | `REPO` | followed repository, with its webhook |
 * | | `FOLLOWER#<id>` | → workspace that follows it |
 * | | `MOVE#<branch>#<number>` | a branch's old and new commit, and the delivery that reported the move |
 * | | `PULLREQUEST#<number>` | newest commit of a pull request, and the comment about its runs |
 * | | `PULL#<number>#<workspace>` | → run of the pull request's newest commit |
 * | `HOOK#<uuid>` | `HOOK` | → repository of the webhook |
 * | | `DELIVERY#<id>` | webhook delivery, with its result |
 * | `ARCHIVE#<repository>#<commit>` | `ARCHIVE` | a commit's files: fetched once for all followers |
 * | | `CV#<id>` | → configuration version that waits for it |
 * | `COMMIT#<token>#<identifier>#<sha>` | `COMMIT` | the posted status of the commit |
 * | | `RUN#<workspace>` | → newest run of the commit in the workspace |
 * | `VCSEVENT#<organization>#<day>` | `<time>#<id>` | result of a delivery, for users |
 */
/**
 * Escapes separators of keys in branch names; otherwise a query for the moves of one branch could return moves of
 * another.
 */
const branchPart = (branch: string): string => branch.replaceAll(/[%#]/g, encodeURIComponent);

export const versionControlKeys = {
  oauthClient: record('OC'),
  organizationOauthClient: (organization: string, createdAt: string, id: string) =>
    ofOrganization(organization, `OC#${createdAt}#${id}`),
  oauthClientUse: (id: string, userId: string, repository: string) => ofOauthClient(id, `USE#${userId}#${repository}`),
  /** A repository without followers, while its webhook is being deleted. */
  oauthClientRest: (id: string, repository: string) => ofOauthClient(id, `REST#${repository}`),
  linkedAccount: (clientId: string, accountId: string) => ofOauthClient(clientId, `ACCOUNT#${accountId}`),
  linkOfUser: (clientId: string, userId: string) => ofOauthClient(clientId, `LINKED#${userId}`),
  linkCode: record('LINKCODE'),
  oauthToken: record('OT'),
  oauthAttempt: record('OATTEMPT'),
  installation: record('GHAIN'),
  installationToken: (id: string, repository: string): Key => ({ pk: `GHAIN#${id}`, sk: `TOKEN#${repository}` }),
  organizationInstallation: (organization: string, id: string) => ofOrganization(organization, `GHAIN#${id}`),
  appAuthorization: (userId: string) => ofUser(userId, 'GHAUTH'),
  repository: record('REPO'),
  follower: (repository: string, id: string) => ofRepository(repository, `FOLLOWER#${id}`),
  move: (repository: string, branch: string, n: number) =>
    ofRepository(repository, `MOVE#${branchPart(branch)}#${padded(n)}`),
  /** Prefix of the sort keys of all moves of the branch. */
  movesOf: (repository: string, branch: string) => ofRepository(repository, `MOVE#${branchPart(branch)}#`),
  pullRequest: (repository: string, number: number) => ofRepository(repository, `PULLREQUEST#${padded(number)}`),
  pullRun: (repository: string, number: number, workspaceId: string) =>
    ofRepository(repository, `PULL#${padded(number)}#${workspaceId}`),
  hook: record('HOOK'),
  delivery: (uuid: string, id: string): Key => ({ pk: `HOOK#${uuid}`, sk: `DELIVERY#${id}` }),
  commitArchive: record('ARCHIVE'),
  waitingForArchive: (id: string, versionId: string): Key => ({ pk: `ARCHIVE#${id}`, sk: `CV#${versionId}` }),
  commit: record('COMMIT'),
  runOfCommit: (id: string, workspaceId: string): Key => ({ pk: `COMMIT#${id}`, sk: `RUN#${workspaceId}` }),
  vcsEvent: (organization: string, at: string, id: string): Key => ({
    pk: `VCSEVENT#${organization}#${at.slice(0, 10)}`,
    sk: `${at}#${id}`,
  }),
};
