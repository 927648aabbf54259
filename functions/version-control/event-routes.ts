import { randomUUID } from 'node:crypto';
import { type Answer, accepted, one, type Resource } from '#api/answer.ts';
import { badRequest, conflict, notFound } from '#api/errors.ts';
import { pageFrom } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { getDelivery, keepDelivery } from './deliveries.ts';
import { isInstallation } from './github-app/installations.ts';
import { getRepository } from './repositories.ts';
import { listVcsEvents, type VcsEvent } from './vcs-events.ts';

/** Results of webhooks, and redelivery (HCP API: VCS events). */

const dayMs = 86_400_000;

const timeOf = ({ request }: Context<InOrganization>, name: string, otherwise: number): Date => {
  const text = request.query.get(name);
  const time = text ? Date.parse(text) : otherwise;
  if (Number.isNaN(time)) throw badRequest(`${name} must be a time such as 2026-01-31T12:00:00Z.`, name);
  return new Date(time);
};

const byToken = (id: string | null) => (id && isInstallation(id) ? null : id);
const byInstallation = (id: string | null) => (id && isInstallation(id) ? id : null);

const eventDocument = (event: VcsEvent, externalId: string): Resource => ({
  id: event.id,
  type: 'vcs-events',
  attributes: {
    'created-at': event.createdAt,
    level: event.level,
    message: event.message,
    'organization-id': externalId,
    'suggested-action': event.suggestedAction,
    /** Not in HCP's API: identifies the delivery for a redelivery. */
    'delivery-id': event.delivery ? `${event.delivery.uuid}.${event.delivery.id}` : null,
  },
  relationships: {
    'oauth-client': one('oauth-clients', byToken(event.clientId)),
    'oauth-token': one('oauth-tokens', byToken(event.tokenId)),
    /** Not in HCP's API. */
    'github-app-installation': one('github-app-installations', byInstallation(event.tokenId)),
  },
});

const most = 30 * dayMs;

const listOfOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const to = timeOf(context, 'filter[to]', Date.now());
  const from = timeOf(context, 'filter[from]', to.getTime() - 10 * dayMs);
  if (to.getTime() - from.getTime() > most)
    throw badRequest('filter[from] may be at most 30 days before filter[to].', 'filter[from]');
  const words = (name: string) =>
    (request.query.get(name) ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean);
  const [levels, clients] = [words('filter[levels]'), words('filter[oauth_client_external_ids]')];
  const found = (await listVcsEvents(subject.organization, from, to)).filter(
    ({ level, clientId }) =>
      (levels.length === 0 || levels.includes(level)) && (clients.length === 0 || clients.includes(clientId ?? '')),
  );
  return pageFrom(request, found, (event) => eventDocument(event, subject.record.externalId));
};

const redeliver = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const [uuid = '', ...rest] = (request.params.delivery ?? '').split('.');
  const delivery = await getDelivery(uuid, rest.join('.'));
  const repository = delivery && (await getRepository(delivery.repository));
  if (!delivery || repository?.organization !== subject.organization) throw notFound('Delivery not found.');
  const { task } = delivery;
  await keepDelivery({ uuid, id: `again-${randomUUID()}`, repository: repository.id, task });
  return accepted();
};

/** Checks for a newer commit on the followed branch, independently of webhooks. */
const check = async ({ subject }: Context<Workspace>): Promise<Answer> => {
  const { vcsRepo, name } = subject;
  const repository = vcsRepo ? await getRepository(vcsRepo.repository) : undefined;
  if (!repository) throw conflict(`Workspace ${name} is not connected to a repository.`);
  const task = { kind: 'check', workspaceId: subject.id } as const;
  await keepDelivery({ uuid: repository.uuid, id: `check-${randomUUID()}`, repository: repository.id, task });
  return accepted();
};

export const vcsEventRoutes: Route[] = [
  route('GET', '/organizations/{organization}/vcs-events', 'connection:write', organization, listOfOrganization, {
    'filter[from]': 'text',
    'filter[to]': 'text',
    'filter[levels]': { some: ['info', 'error'] },
    'filter[oauth_client_external_ids]': 'text',
  }),
  route(
    'POST',
    '/organizations/{organization}/vcs-deliveries/{delivery}/actions/redeliver',
    'connection:write',
    organization,
    redeliver,
  ),
  route('POST', '/workspaces/{workspace}/actions/fetch-latest-from-vcs', 'run:plan', workspace, check),
];
