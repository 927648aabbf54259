import * as v from 'valibot';
import { badRequest } from '#api/errors.ts';
import type { GithubAppSettings } from '#platform/environment.ts';
import { now } from '#platform/store/time.ts';
import { counted } from '../handling.ts';
import { getRepository, hasFollowers, repositoryId } from '../repositories.ts';
import { recordVcsEvent } from '../vcs-events.ts';
import {
  factsOf,
  getInstallation,
  type Installation,
  installationIdOf,
  installationSchema,
  noteInstallation,
} from './installations.ts';

/**
 * Changes of installations at GitHub (GitHub webhooks: installation, installation_repositories). Followers stay
 * connected; events explain why no runs start.
 */

const names = ['installation', 'installation_repositories'] as const;

export const isAboutInstallations = (name: string | undefined): name is (typeof names)[number] =>
  names.some((one) => one === name);

const schema = v.object({
  action: v.string(),
  installation: installationSchema,
  repositories_removed: v.optional(v.array(v.object({ full_name: v.string() })), []),
});

const tell = (
  { organization, id }: Installation,
  level: 'info' | 'error',
  message: string,
  suggestedAction: string | null,
): Promise<void> => recordVcsEvent({ organization, clientId: id, tokenId: id, level, message, suggestedAction });

const outcomes: Record<string, (login: string) => readonly ['info' | 'error', string, string | null]> = {
  deleted: (login) => [
    'error',
    `The GitHub App was uninstalled from ${login}: workspaces that follow its repositories get no runs`,
    'Install the app again, link the new installation, and reconnect its workspaces.',
  ],
  suspend: (login) => [
    'error',
    `The GitHub App's installation for ${login} was suspended: workspaces that follow its repositories get no runs`,
    'Resume the installation at GitHub, then look for newer commits.',
  ],
  unsuspend: (login) => ['info', `The GitHub App's installation for ${login} was resumed`, null],
};

const most = 500;
const atOnce = 25;

/** Records events only for followed repositories. */
const tellRemoved = async (installation: Installation, identifiers: string[]): Promise<number> => {
  let followed = 0;
  for (let i = 0; i < Math.min(identifiers.length, most); i += atOnce) {
    await Promise.all(
      identifiers.slice(i, i + atOnce).map(async (identifier) => {
        const repository = await getRepository(repositoryId(installation.id, identifier));
        if (!repository || !(await hasFollowers(repository.id))) return;
        followed++;
        const message = `${identifier} was taken out of the GitHub App's installation for ${installation.account.login}: workspaces that follow it get no runs`;
        await tell(installation, 'error', message, 'Give the installation the repository again, or disconnect.');
      }),
    );
  }
  return followed;
};

/** Records the event; undefined when no organization has linked the installation. @throws {ApiError} 400 */
export const noteInstallationEvent = async (
  app: GithubAppSettings,
  name: (typeof names)[number],
  payload: unknown,
): Promise<string | undefined> => {
  const given = v.safeParse(schema, payload);
  if (!given.success) throw badRequest('The body is not a valid webhook of GitHub.');
  const { action, installation, repositories_removed: removed } = given.output;
  const facts = factsOf(installation);
  const id = installationIdOf(app, facts.installationId);
  const linked = await getInstallation(id);
  if (!linked) return undefined;
  if (name === 'installation_repositories') {
    if (action !== 'removed') return undefined;
    return counted(
      await tellRemoved(
        linked,
        removed.map((one) => one.full_name),
      ),
      'followed repository',
    );
  }
  const outcome = outcomes[action];
  if (!outcome) return undefined;
  const { account, url } = facts;
  if (action === 'deleted') await noteInstallation(id, { uninstalledAt: linked.uninstalledAt ?? now() });
  else
    await noteInstallation(id, {
      account,
      url,
      suspendedAt: action === 'suspend' ? (linked.suspendedAt ?? now()) : undefined,
    });
  await tell(linked, ...outcome(account.login));
  return action;
};
