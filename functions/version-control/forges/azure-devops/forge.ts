import * as v from 'valibot';
import { ForgeError } from '#version-control/forge-error.ts';
import type { Call, Forge, ForgeRequest, StatusState } from '../forge.ts';
import { found, maxTags, missing } from '../github/forge.ts';
import { sha, webUrl } from '../github/schemas.ts';
import { azureHookUser, branchOf } from './schemas.ts';

/**
 * Azure DevOps Services, and Server 2020 or newer (REST API 6.0). `api-url` is the organization or collection:
 * `https://dev.azure.com/acme`, because a token belongs to one.
 */

/** @param identifier `project/_git/repository`, or with the organization before it */
const partsOf = (identifier: string): { organization?: string; project: string; name: string } | undefined => {
  const parts = identifier.split('/');
  const [name, marker, project, organization] = parts.toReversed();
  if (parts.length > 4 || marker !== '_git' || !name || !project) return undefined;
  return { project, name, ...(organization ? { organization } : {}) };
};

/** @throws {ForgeError} `missing`, for an identifier of another form */
export const repo = (identifier: string): string => {
  const parts = partsOf(identifier);
  if (!parts) throw new ForgeError('missing', 'Azure DevOps names repositories like project/_git/repository');
  return `/${encodeURIComponent(parts.project)}/_apis/git/repositories/${encodeURIComponent(parts.name)}`;
};

export const ask = (call: Call, request: ForgeRequest) =>
  call({ ...request, query: { 'api-version': '6.0', ...request.query } });

export const listOf = <S extends v.GenericSchema>(item: S) => v.object({ value: v.array(item) });

const repository = v.object({
  id: v.string(),
  name: v.string(),
  url: v.string(),
  project: v.object({ id: v.string(), name: v.string() }),
  /** `refs/heads/…`; absent from an empty repository. */
  defaultBranch: v.nullish(v.string(), ''),
  webUrl,
  remoteUrl: webUrl,
});

/** Names with spaces and other characters are no part of an identifier here: their ids are. */
const plain = /^[A-Za-z0-9_.~-]+$/;
const identifierOf = ({ id, name, project }: v.InferOutput<typeof repository>): string =>
  `${plain.test(project.name) ? project.name : project.id}/_git/${plain.test(name) ? name : id}`;

const ref = v.object({ name: v.string(), objectId: sha, peeledObjectId: v.nullish(sha) });
const refsOf = async (call: Call, identifier: string, query: Record<string, string | number>) => {
  const answer = await ask(call, { method: 'GET', path: `${repo(identifier)}/refs`, query, accept: missing });
  return found(listOf(ref), answer)?.value ?? [];
};

const atCommit = (commit: string) => ({
  'versionDescriptor.version': commit,
  'versionDescriptor.versionType': 'commit',
});
/** Paths begin with a slash. */
const item = v.object({
  path: v.string(),
  gitObjectType: v.nullish(v.string(), ''),
  objectId: v.string(),
});
const itemsOf = async (call: Call, identifier: string, commit: string, query: Record<string, string>) => {
  const path = `${repo(identifier)}/items`;
  const answer = await ask(call, { method: 'GET', path, query: { ...atCommit(commit), ...query }, accept: missing });
  return found(listOf(item), answer)?.value ?? [];
};

export const withoutSlash = (path: string): string => path.replace(/^\//, '');

/** Maximum number of changed files in a comparison. */
const maxChanges = 2000;

const stateNames: Record<StatusState, string> = {
  pending: 'pending',
  success: 'succeeded',
  failure: 'failed',
  error: 'error',
};

/** A subscription has one kind of event, so that a webhook here is five of them there. */
const hookEvents = [
  'git.push',
  'git.pullrequest.created',
  'git.pullrequest.updated',
  'git.pullrequest.merged',
  'ms.vss-code.git-pullrequest-comment-event',
];

const subscriptions = '/_apis/hooks/subscriptions';
const subscription = v.object({
  id: v.string(),
  eventType: v.string(),
  consumerInputs: v.nullish(v.object({ url: v.nullish(v.string()) })),
});
const ours = { publisherId: 'tfs', consumerId: 'webHooks' };

export const azureDevops: Forge = {
  whoAmI: async (call) => {
    const query = { 'api-version': '6.0-preview' };
    const { body } = await call({ method: 'GET', path: '/_apis/connectionData', query });
    const user = v.object({ id: v.string(), providerDisplayName: v.nullish(v.string()) });
    const { authenticatedUser: one } = v.parse(v.object({ authenticatedUser: user }), body);
    return { id: one.id, name: one.providerDisplayName ?? one.id };
  },
  repositories: async (call) => {
    const { body } = await ask(call, { method: 'GET', path: '/_apis/git/repositories' });
    const { value } = v.parse(listOf(repository), body);
    return {
      items: value.map((one) => ({ identifier: identifierOf(one), defaultBranch: branchOf(one.defaultBranch ?? '') })),
      next: null,
    };
  },
  repository: async (call, identifier) => {
    const parts = partsOf(identifier);
    if (!parts) return undefined;
    const one = found(repository, await ask(call, { method: 'GET', path: repo(identifier), accept: missing }));
    const { organization } = parts;
    const isThere = !organization || one?.url.toLowerCase().includes(`/${organization.toLowerCase()}/`);
    if (!one || !isThere) return undefined;
    const { status } = await ask(call, { method: 'GET', path: subscriptions, query: ours, accept: [401, 403] });
    return {
      id: one.id,
      identifier,
      defaultBranch: branchOf(one.defaultBranch ?? ''),
      mayAdminister: status === 200,
      httpUrl: one.webUrl || one.remoteUrl,
      cloneUrl: one.remoteUrl,
    };
  },
  branches: async (call, identifier) => {
    const refs = await refsOf(call, identifier, { filter: 'heads/', $top: 100 });
    return refs.map(({ name }) => branchOf(name));
  },
  branch: async (call, identifier, branch) => {
    const refs = await refsOf(call, identifier, { filter: `heads/${branch}` });
    return refs.find(({ name }) => name === `refs/heads/${branch}`)?.objectId;
  },
  tags: async (call, identifier) => {
    const refs = await refsOf(call, identifier, { filter: 'tags/', peelTags: 'true', $top: maxTags });
    return refs.map(({ name, objectId, peeledObjectId: commit }) => ({
      name: name.replace(/^refs\/tags\//, ''),
      sha: commit ?? objectId,
    }));
  },
  commit: async (call, identifier, commit) => {
    const path = `${repo(identifier)}/commits/${encodeURIComponent(commit)}`;
    const schema = v.object({
      commitId: sha,
      comment: v.nullish(v.string(), ''),
      author: v.nullish(v.object({ name: v.nullish(v.string(), null) })),
      remoteUrl: webUrl,
    });
    const one = found(schema, await ask(call, { method: 'GET', path, accept: missing }));
    return (
      one && {
        sha: one.commitId,
        message: (one.comment ?? '').slice(0, 2000),
        url: one.remoteUrl,
        author: one.author?.name ?? null,
      }
    );
  },
  folders: async (call, identifier, commit) => {
    const items = await itemsOf(call, identifier, commit, { recursionLevel: 'Full' });
    return items.flatMap((one) => (one.gitObjectType === 'tree' && one.path !== '/' ? [withoutSlash(one.path)] : []));
  },
  submodule: async (call, identifier, commit, at) => {
    const scopePath = `/${at.split('/').slice(0, -1).join('/')}`;
    const items = await itemsOf(call, identifier, commit, { scopePath, recursionLevel: 'OneLevel' });
    return items.find(({ path, gitObjectType }) => path === `/${at}` && gitObjectType === 'commit')?.objectId;
  },
  changedFiles: async (call, identifier, from, to) => {
    const query = {
      baseVersion: from,
      baseVersionType: 'commit',
      targetVersion: to,
      targetVersionType: 'commit',
      diffCommonCommit: 'false',
      $top: maxChanges,
    };
    const change = v.object({
      item: v.object({ path: v.string(), isFolder: v.nullish(v.boolean(), false) }),
      sourceServerItem: v.nullish(v.string()),
    });
    const schema = v.object({ allChangesIncluded: v.nullish(v.boolean(), true), changes: v.array(change) });
    const path = `${repo(identifier)}/diffs/commits`;
    const one = found(schema, await ask(call, { method: 'GET', path, query, accept: missing }));
    if (!one?.allChangesIncluded || one.changes.length >= maxChanges) return undefined;
    const files = one.changes.filter((change) => !change.item.isFolder);
    const paths = files.flatMap((change) => [
      change.item.path,
      ...(change.sourceServerItem ? [change.sourceServerItem] : []),
    ]);
    return [...new Set(paths.map(withoutSlash))];
  },
  archiveUrl: ({ apiUrl }, identifier, commit) => {
    const organization = partsOf(identifier)?.organization?.toLowerCase();
    if (organization && !apiUrl.toLowerCase().endsWith(`/${organization}`))
      throw new ForgeError('missing', `the connection's token is for ${apiUrl}`);
    const query = { ...atCommit(commit), path: '/', $format: 'zip', zipForUnix: 'true', 'api-version': '6.0' };
    return `${apiUrl}${repo(identifier)}/items?${new URLSearchParams(query)}`;
  },
  zippedRoot: async (call, identifier, commit) => {
    const items = await itemsOf(call, identifier, commit, { scopePath: '/', recursionLevel: 'OneLevel' });
    const kept = items.filter(({ path, gitObjectType }) => path !== '/' && gitObjectType !== 'commit');
    return kept.map(({ path }) => withoutSlash(path));
  },
  createHook: async (call, identifier, { url, secret }) => {
    const { body: found } = await ask(call, { method: 'GET', path: repo(identifier) });
    const { id, project } = v.parse(repository, found);
    const { body: existing } = await ask(call, { method: 'GET', path: subscriptions, query: ours });
    const there = v
      .parse(listOf(subscription), existing)
      .value.filter(({ consumerInputs }) => consumerInputs?.url === url);
    const ids: string[] = [];
    for (const eventType of hookEvents) {
      const body = {
        ...ours,
        eventType,
        resourceVersion: eventType.startsWith('ms.') ? '2.0' : '1.0',
        consumerActionId: 'httpRequest',
        publisherInputs: { projectId: project.id, repository: id },
        consumerInputs: {
          url,
          basicAuthUsername: azureHookUser,
          basicAuthPassword: secret,
          messagesToSend: 'none',
          detailedMessagesToSend: 'none',
        },
      };
      const one = there.find((hook) => hook.eventType === eventType);
      const made = await ask(
        call,
        one
          ? { method: 'PUT', path: `${subscriptions}/${one.id}`, body }
          : { method: 'POST', path: subscriptions, body },
      );
      ids.push(v.parse(v.object({ id: v.string() }), made.body).id);
    }
    return ids.join(',');
  },
  deleteHook: async (call, _identifier, hookIds) => {
    for (const id of hookIds.split(',')) {
      await ask(call, { method: 'DELETE', path: `${subscriptions}/${encodeURIComponent(id)}`, accept: [404] });
    }
  },
  /** Branch policies ask for "genre" and "name" of a status: the context's part before its first slash, and the rest. */
  postStatus: async (call, identifier, commit, { state, context, description, targetUrl }) => {
    const [genre, ...rest] = context.split('/');
    const body = { state: stateNames[state], description, targetUrl, context: { genre, name: rest.join('/') } };
    await ask(call, { method: 'POST', path: `${repo(identifier)}/commits/${commit}/statuses`, body });
  },
};
