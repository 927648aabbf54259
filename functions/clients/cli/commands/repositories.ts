import { type Resource, related } from '#clients/client/client.ts';
import { isOutOfReach } from '#clients/client/vcs-repo.ts';
import { type Command, ofWorkspace } from '../arguments.ts';
import { plain } from '../paint.ts';
import { program } from '../program.ts';
import type { Session } from '../session.ts';
import { print, printJson } from '../terminal.ts';
import { type Client, chosenOf, connectionsOf, nameOf } from './version-control.ts';

/** The repositories that workspaces follow. */

/** How to reach a repository: a connection, or an installation of the GitHub App. @throws {CommandError} */
export const reach = async (session: Session, named: string | undefined): Promise<Record<string, unknown>> => {
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

/** Connects a workspace to a repository, or to none. @returns the workspace */
const connectTo = async ({ client }: Session, { id }: Resource, repository: object | null): Promise<Resource> => {
  const attributes = { 'vcs-repo': repository };
  const { data } = await client.call('PATCH', `/workspaces/${id}`, { data: { type: 'workspaces', attributes } });
  return data;
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
    const data = await connectTo(session, workspace, repository);
    if (call.flag('json')) return printJson({ data });
    const name = plain(workspace.attributes.name);
    // The same rule as on the platform (queue-all-runs).
    const waits = !workspace.attributes['queue-all-runs'] && !workspace.attributes['workspace-kpis-runs-count'];
    print(
      `Workspace ${name} follows ${identifier}. ${
        waits
          ? `Pushes start runs once it has had one: ${program} runs start --latest --workspace ${name}`
          : 'Everyone who can push to it can start runs.'
      }`,
    );
    if (isOutOfReach(data.attributes['vcs-repo'])) {
      print(
        `The forge cannot deliver webhooks to this machine: look for new commits with ${program} vcs check --workspace ${name}`,
      );
    }
  },
};

const unfollow: Command = {
  name: 'vcs unfollow',
  about: 'Disconnect a workspace from its repository',
  options: ofWorkspace,
  run: async (call, session) => {
    const workspace = await session.workspace();
    const data = await connectTo(session, workspace, null);
    if (call.flag('json')) return printJson({ data });
    const identifier = workspace.attributes['vcs-repo-identifier'];
    const name = plain(workspace.attributes.name);
    print(
      identifier
        ? `Workspace ${name} no longer follows ${plain(identifier)}.`
        : `Workspace ${name} does not follow a repository.`,
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

export const repositoryCommands: Command[] = [follow, unfollow, check];
