import { type Resource, related } from '#clients/client/client.ts';
import { ago } from '#clients/client/text/time.ts';
import { vcsProviders, withoutSlash } from '#clients/client/vcs-providers.ts';
import { type Call, type Command, ofOrganization } from '../arguments.ts';
import { confirmByName } from '../confirm.ts';
import { CommandError, exit, wrongUsage } from '../exit.ts';
import { bold, dim, plain, red } from '../paint.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { ofList, printList } from '../table.ts';
import { print, printJson, readSecret } from '../terminal.ts';

/** Connections to version control, and results of webhooks. */

export type Client = Resource<'oauth-clients'>;

export const connectionsOf = async ({ client }: Session, organization: string): Promise<Client[]> =>
  (await client.some(`/organizations/${encodeURIComponent(organization)}/oauth-clients`, 1000)).data as Client[];

export const nameOf = ({ attributes }: Client): string =>
  attributes.name ?? attributes['service-provider-display-name'];

/** Finds a connection by id or name; without a name, the only one. @throws {CommandError} */
export const chosenOf = <T extends { id: string }>(
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

/** Why it does not work now; empty when it does. */
const problemOf = (connection: Client, included: Resource[]): string => {
  const token = related(connection, 'oauth-tokens');
  if (!token) return 'not authorized';
  const { attributes } = included.find(({ id }) => id === token) ?? {};
  const until = attributes?.['paused-until'];
  return plain(attributes?.['error-message'] ?? (until ? `paused until ${until}` : ''));
};

const list: Command = {
  name: 'vcs list',
  about: 'List the connections to version control',
  options: { ...ofOrganization, ...ofList },
  run: async (call, session) => {
    const organization = await session.organization();
    const path = `/organizations/${encodeURIComponent(organization)}/oauth-clients?include=oauth_tokens`;
    const { data, included } = await session.client.some<'oauth-clients'>(path, 1000);
    return printList(call, {
      headings: ['name', 'id', 'forge', 'url', 'problem'],
      entries: data,
      row: (connection) => [
        bold(plain(nameOf(connection))),
        connection.id,
        connection.attributes['service-provider-display-name'],
        dim(plain(connection.attributes['http-url'])),
        red(problemOf(connection, included)),
      ],
      json: { data },
      none: `No connections yet. Add one: ${program} vcs connect github`,
    });
  },
};

/** Names that people use, which the help lists too. */
const providers = [
  'github',
  'github_enterprise',
  'gitlab',
  'gitlab_enterprise_edition',
  'gitea',
  'forgejo',
  'bitbucket',
  'azure-devops',
];

const providerOf = (given: string, hasUrl: boolean): string => {
  if (given === 'forgejo') return 'gitea';
  if (given === 'bitbucket') return hasUrl ? 'bitbucket_data_center' : 'bitbucket_hosted';
  if (given === 'azure-devops') return 'ado_services';
  if (given === 'gitlab') return hasUrl ? 'gitlab_community_edition' : 'gitlab_hosted';
  return given;
};

const urlsOf = (call: Call, provider: string): readonly [string, string] => {
  const known = vcsProviders[provider];
  if (!known) throw wrongUsage(`Unknown provider ${provider}. Use one of: ${providers.join(', ')}`);
  const given = call.text('url');
  const url = withoutSlash(given ?? known.url ?? '');
  if (!url)
    throw wrongUsage(
      `Missing --url: the URL of your ${provider} server, e.g. ${known.example ?? 'https://git.example.com'}`,
    );
  return [url, call.text('api-url') ?? ((!given && known.apiUrl) || `${url}${known.apiPath}`)];
};

/** @throws {CommandError} for an empty token, which the API treats as absent */
const readToken = async (question: string): Promise<string> => {
  const token = (await readSecret(`${question} (not shown): `)).trim();
  if (!token) throw wrongUsage('No access token given. Type it, or pipe it in.');
  return token;
};

const connect: Command = {
  name: 'vcs connect',
  about: 'Connect a forge with an access token, which is typed without echo or piped in',
  takes: '<provider>',
  options: {
    ...ofOrganization,
    url: { about: 'URL of the forge (not needed for github.com, gitlab.com, bitbucket.org)', value: 'url' },
    'api-url': { about: 'URL of its API (default: by provider)', value: 'url' },
    name: { about: 'name of the connection', value: 'name' },
  },
  more: `Providers: ${providers.join(', ')}`,
  run: async (call, session) => {
    const provider = providerOf(call.required(0), call.text('url') !== undefined);
    const [httpUrl, apiUrl] = urlsOf(call, provider);
    const organization = await session.organization();
    const token = await readToken(`Access token for ${httpUrl}`);
    const path = `/organizations/${encodeURIComponent(organization)}/oauth-clients`;
    const data = await session.client.create(path, 'oauth-clients', {
      name: call.text('name') ?? null,
      'service-provider': provider,
      'http-url': httpUrl,
      'api-url': apiUrl,
      'oauth-token-string': token,
    });
    if (call.flag('json')) return printJson({ data });
    const { attributes } = await session.client.get(`/oauth-tokens/${related(data, 'oauth-tokens') ?? ''}`);
    print(
      `Connected as ${plain(attributes['service-provider-user'])}. Connect a workspace to a repository: ${program} vcs follow <owner/name> --workspace <name>`,
    );
  },
};

const rotate: Command = {
  name: 'vcs rotate',
  about: 'Replace the access token of a connection; workspaces stay connected',
  takes: '[connection]',
  options: ofOrganization,
  run: async (call, session) => {
    const { id, attributes } = await connection(session, call.word(0));
    const token = await readToken(`New access token for ${plain(attributes['http-url'])}`);
    const { data } = await session.client.call('PATCH', `/oauth-clients/${id}`, {
      data: { type: 'oauth-clients', attributes: { 'oauth-token-string': token } },
    });
    if (call.flag('json')) return printJson({ data });
    print('Token replaced.');
  },
};

const disconnect: Command = {
  name: 'vcs disconnect',
  about: 'Delete a connection and its webhooks, and disconnect its workspaces',
  takes: '<connection>',
  options: { ...ofOrganization, yes: { about: 'do not ask', short: 'y' } },
  run: async (call, session) => {
    const by = await connection(session, call.required(0));
    const name = plain(nameOf(by));
    if (!call.flag('yes')) await confirmByName(`Delete connection ${name}, and disconnect its workspaces?`, name);
    await session.client.call('DELETE', `/oauth-clients/${by.id}`);
    if (call.flag('json')) return printJson({ data: null });
    print(`Connection ${name} deleted.`);
  },
};

const eventsOf = (organization: string): string => `/organizations/${encodeURIComponent(organization)}/vcs-events`;

const events: Command = {
  name: 'vcs events',
  about: 'Show the results of pushes, pull requests and comments',
  options: { ...ofOrganization, ...ofList, errors: { about: 'only errors' } },
  run: async (call, session) => {
    const organization = await session.organization();
    const levels = call.flag('errors') ? '?filter[levels]=error' : '';
    const { data } = await session.client.some(`${eventsOf(organization)}${levels}`, 20);
    return printList(call, {
      headings: ['at', 'id', 'level', 'message'],
      entries: data,
      row: ({ id, attributes }) => [
        dim(ago(attributes['created-at'], Date.now())),
        dim(id),
        attributes.level === 'error' ? red('error') : '',
        plain(attributes.message),
      ],
      values: ({ id, attributes }) => [attributes['created-at'], id, attributes.level, attributes.message],
      json: { data },
      none: 'No events in the last 10 days.',
    });
  },
};

const redeliver: Command = {
  name: 'vcs redeliver',
  about: 'Handle a delivery again',
  takes: '<event>',
  options: ofOrganization,
  more: `Event: an id from ${program} vcs events`,
  run: async (call, session) => {
    const [organization, event] = [await session.organization(), call.required(0)];
    const { data } = await session.client.some(eventsOf(organization), 10_000);
    const found = data.find(({ id }) => id === event);
    if (!found) throw new CommandError(`No event ${plain(event)} in the last 10 days.`, exit.notFound);
    const delivery = found.attributes['delivery-id'];
    if (!delivery) throw new CommandError(`Event ${event} has no delivery to repeat.`, exit.notNow);
    const path = `/organizations/${encodeURIComponent(organization)}/vcs-deliveries/${encodeURIComponent(delivery)}`;
    await session.client.call('POST', `${path}/actions/redeliver`, {});
    if (call.flag('json')) return printJson({ data: { id: event, type: 'vcs-events' } });
    print(`Delivered again. See: ${program} vcs events`);
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

export const versionControlCommands: Command[] = [list, connect, rotate, disconnect, events, redeliver, link];
