import { type Resource, related } from '../../client/client.ts';
import { ago } from '../../client/text/time.ts';
import { type Call, type Command, ofOrganization, ofWorkspace } from '../arguments.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { bold, dim, plain, red } from '../paint.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { ofList, printList } from '../table.ts';
import { print, printJson, readSecret } from '../terminal.ts';

/** Connections to version control, their repositories, and results of webhooks. */

type Client = Resource<'oauth-clients'>;

const connectionsOf = async ({ client }: Session, organization: string): Promise<Client[]> =>
  (await client.some(`/organizations/${encodeURIComponent(organization)}/oauth-clients`, 1000)).data as Client[];

const nameOf = ({ attributes }: Client): string => attributes.name ?? attributes['service-provider-display-name'];

/** Finds a connection by id or name; without a name, the only one. @throws {CommandError} */
const chosenOf = <T extends { id: string }>(
  connections: T[],
  named: string | undefined,
  organization: string,
  nameOf: (one: T) => string,
): T => {
  const fitting =
    named === undefined
      ? connections
      : connections.filter((candidate) => candidate.id === named || nameOf(candidate) === named);
  const [only] = fitting;
  if (only && fitting.length === 1) return only;
  if (connections.length === 0) {
    throw new CommandError(`No connections in ${organization}. Add one: ${program} vcs connect github`, exit.notFound);
  }
  const choices = connections.map((candidate) => `${candidate.id} (${plain(nameOf(candidate))})`).join(', ');
  throw wrongUsage(
    `${named === undefined || only ? 'Several connections fit' : 'No such connection'}. Give one of: ${choices}`,
  );
};

/** @throws {CommandError} */
const connection = async (session: Session, named: string | undefined): Promise<Client> => {
  const organization = await session.organization();
  return chosenOf(await connectionsOf(session, organization), named, organization, nameOf);
};

/** How to reach a repository: a connection, or an installation of the GitHub App. @throws {CommandError} */
const reach = async (session: Session, named: string | undefined): Promise<Record<string, unknown>> => {
  const organization = await session.organization();
  const installations = (
    await session.client.some(`/organizations/${encodeURIComponent(organization)}/github-app-installations`, 1000)
  ).data as Resource[];
  const all: Resource[] = [...((await connectionsOf(session, organization)) as Resource[]), ...installations];
  const isInstallation = ({ type }: Resource): boolean => type === 'github-app-installations';
  const by = chosenOf(all, named, organization, (connection) =>
    isInstallation(connection) ? connection.attributes.name : nameOf(connection as Client),
  );
  return isInstallation(by)
    ? { 'github-app-installation-id': by.id }
    : { 'oauth-token-id': related(by, 'oauth-tokens') };
};

const list: Command = {
  name: 'vcs list',
  about: 'List the connections to version control',
  options: { ...ofOrganization, ...ofList },
  run: async (call, session) => {
    const organization = await session.organization();
    const data = await connectionsOf(session, organization);
    return printList(call, {
      headings: ['name', 'id', 'forge', 'url', 'problem'],
      entries: data,
      row: (connection) => [
        bold(plain(nameOf(connection))),
        connection.id,
        connection.attributes['service-provider-display-name'],
        dim(plain(connection.attributes['http-url'])),
        related(connection, 'oauth-tokens') ? '' : red('not authorized'),
      ],
      json: { data },
      none: `No connections yet. Add one: ${program} vcs connect github`,
    });
  },
};

const hosted: Record<string, readonly [url: string, apiUrl: string]> = {
  github: ['https://github.com', 'https://api.github.com'],
  gitlab_hosted: ['https://gitlab.com', 'https://gitlab.com/api/v4'],
};
const apiPaths: Record<string, string> = {
  github_enterprise: '/api/v3',
  gitlab_community_edition: '/api/v4',
  gitlab_enterprise_edition: '/api/v4',
  gitea: '/api/v1',
};

/** As people call them. */
const providerOf = (given: string, hasUrl: boolean): string => {
  if (given === 'forgejo') return 'gitea';
  if (given === 'gitlab') return hasUrl ? 'gitlab_community_edition' : 'gitlab_hosted';
  return given;
};

const urlsOf = (call: Call, provider: string): readonly [string, string] => {
  const hostedUrls = hosted[provider];
  const path = apiPaths[provider];
  if (!hostedUrls && path === undefined) {
    throw wrongUsage(
      `Unknown provider ${provider}. Use one of: ${[...Object.keys(hosted), ...Object.keys(apiPaths)].join(', ')}`,
    );
  }
  const url = call.text('url')?.replace(/\/+$/, '') ?? hostedUrls?.[0];
  if (!url) throw wrongUsage(`Missing --url: the URL of your ${provider} server, e.g. https://git.example.com`);
  return [url, call.text('api-url') ?? (hostedUrls && !call.text('url') ? hostedUrls[1] : `${url}${path ?? ''}`)];
};

const connect: Command = {
  name: 'vcs connect',
  about: 'Connect a forge with an access token, which is typed without echo or piped in',
  takes: '<provider>',
  options: {
    ...ofOrganization,
    url: { about: 'URL of the forge (not needed for github, gitlab_hosted)', value: 'url' },
    'api-url': { about: 'URL of its API (default: by provider)', value: 'url' },
    name: { about: 'name of the connection', value: 'name' },
  },
  more: 'Providers: github, github_enterprise, gitlab, gitlab_enterprise_edition, gitea, forgejo',
  run: async (call, session) => {
    const provider = providerOf(call.required(0), call.text('url') !== undefined);
    const [httpUrl, apiUrl] = urlsOf(call, provider);
    const organization = await session.organization();
    const token = await readSecret(`Access token for ${httpUrl} (not shown): `);
    const path = `/organizations/${encodeURIComponent(organization)}/oauth-clients`;
    const data = await session.client.create(path, 'oauth-clients', {
      name: call.text('name') ?? null,
      'service-provider': provider,
      'http-url': httpUrl,
      'api-url': apiUrl,
      'oauth-token-string': token,
    });
    if (call.flag('json')) return printJson({ data });
    print(`Connected. Connect a workspace to a repository: ${program} vcs follow <owner/name> --workspace <name>`);
  },
};

const follow: Command = {
  name: 'vcs follow',
  about: 'Connect a workspace to a repository',
  takes: '<owner/name>',
  options: {
    ...ofWorkspace,
    connection: {
      about: 'connection or GitHub App installation, by name or id (default: the only one)',
      value: 'connection',
    },
    branch: { about: 'branch (default: the default branch)', value: 'name' },
    tags: { about: 'start runs for new tags that match, instead of pushes', value: 'expression' },
    submodules: { about: 'include the files of submodules' },
  },
  run: async (call, session) => {
    const [workspace, by] = [await session.workspace(), await reach(session, call.text('connection'))];
    const identifier = call.required(0);
    const repository = {
      identifier,
      branch: call.text('branch') ?? '',
      'tags-regex': call.text('tags'),
      ...(call.flag('submodules') ? { 'ingress-submodules': true } : {}),
      ...by,
    };
    const { data } = await session.client.call('PATCH', `/workspaces/${workspace.id}`, {
      data: { type: 'workspaces', attributes: { 'vcs-repo': repository } },
    });
    if (call.flag('json')) return printJson({ data });
    const name = plain(workspace.attributes.name);
    // As the platform decides it (queue-all-runs).
    const waits = !workspace.attributes['queue-all-runs'] && !workspace.attributes['workspace-kpis-runs-count'];
    print(
      `Workspace ${name} follows ${identifier}. ${
        waits
          ? `Pushes start runs once it has had one: ${program} runs start --latest --workspace ${name}`
          : 'Everyone who can push to it can start runs.'
      }`,
    );
  },
};

const check: Command = {
  name: 'vcs check',
  about: 'Check for a newer commit, and recreate the webhook',
  options: ofWorkspace,
  run: async (call, session) => {
    const { id, attributes } = await session.workspace();
    await session.client.call('POST', `/workspaces/${id}/actions/fetch-latest-from-vcs`, {});
    if (call.flag('json')) return printJson({ data: { id, type: 'workspaces' } });
    print(
      `Looking for the newest commit of ${plain(attributes['vcs-repo-identifier'] ?? '')}. See: ${program} vcs events`,
    );
  },
};

const events: Command = {
  name: 'vcs events',
  about: 'Show the results of pushes, pull requests and comments',
  options: { ...ofOrganization, ...ofList, errors: { about: 'only errors' } },
  run: async (call, session) => {
    const organization = await session.organization();
    const levels = call.flag('errors') ? '?filter[levels]=error' : '';
    const { data } = await session.client.some(
      `/organizations/${encodeURIComponent(organization)}/vcs-events${levels}`,
      20,
    );
    return printList(call, {
      headings: ['at', 'level', 'message'],
      entries: data,
      row: ({ attributes }) => [
        dim(ago(attributes['created-at'], Date.now())),
        attributes.level === 'error' ? red('error') : '',
        plain(attributes.message),
      ],
      values: ({ attributes }) => [attributes['created-at'], attributes.level, attributes.message],
      json: { data },
      none: 'No events in the last 10 days.',
    });
  },
};

const link: Command = {
  name: 'vcs link',
  about: 'Link your account at the forge, so that its comments on pull requests count as yours',
  takes: '<username>',
  options: {
    ...ofOrganization,
    connection: { about: 'connection, by name or id (default: the only one)', value: 'connection' },
  },
  run: async (call, session) => {
    const by = await connection(session, call.text('connection'));
    const { data } = await session.client.call('POST', `/oauth-clients/${by.id}/account-link`, {
      data: { attributes: { username: call.required(0) } },
    });
    if (call.flag('json')) return printJson({ data });
    print(`Within ten minutes, comment this on a pull request as ${call.required(0)}:\n${data.attributes.comment}`);
  },
};

export const versionControlCommands: Command[] = [list, connect, follow, check, events, link];
