import * as v from 'valibot';
import { type Answer, json } from '#api/answer.ts';
import { badRequest, notFound, unsupported } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import { environment, type GithubAppSettings } from '#platform/environment.ts';
import { hashSecret } from '#platform/store/id.ts';
import { keepDelivery } from '../deliveries.ts';
import type { ForgeEvent } from '../forges/events.ts';
import { eventOf as eventOfGithub } from '../forges/github/events.ts';
import { webhookReaders } from '../forges/webhook-readers.ts';
import { getRepository, repositoryId } from '../repositories.ts';
import { checkFlood, maxBytes, unsigned } from '../webhook-routes.ts';
import { appSecret } from './app.ts';
import { isAboutInstallations, noteInstallationEvent } from './installation-events.ts';
import { getInstallation, installationIdOf } from './installations.ts';

/**
 * The GitHub App's only webhook: deliveries of every repository of every installation, and changes of installations.
 */

const origin = v.object({
  installation: v.object({ id: v.pipe(v.number(), v.integer()), app_id: v.optional(v.number()) }),
  repository: v.optional(v.object({ full_name: v.string() })),
});

const ignore = (why: string): Answer => json(200, { ignored: why }, 'application/json');

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The body is not valid JSON.');
  }
};

const eventOf = (request: ApiRequest, payload: unknown): ForgeEvent => {
  try {
    return eventOfGithub(request.header('x-github-event'), payload);
  } catch {
    throw badRequest('The body is not a valid webhook of GitHub.');
  }
};

/** Handles only repositories that are followed through the installation. */
const handleRepository = async (
  request: ApiRequest,
  text: string,
  payload: unknown,
  { app, number, identifier }: { app: GithubAppSettings; number: number; identifier: string },
): Promise<Answer> => {
  const event = eventOf(request, payload);
  if (event.kind === 'ignored') return ignore(event.why);
  const installation = await getInstallation(installationIdOf(app, number));
  if (!installation) return ignore('no organization has linked the installation');
  const repository = await getRepository(repositoryId(installation.id, identifier));
  if (!repository || repository.unusedAt) return ignore('no workspace, policy set or module follows the repository');
  // A new repository with the old name: the followed one was deleted or renamed.
  if (event.repositoryId !== repository.forgeId) return ignore('another repository of this name is followed');
  await checkFlood(repository);
  const { uuid } = repository;
  const id = (webhookReaders.github.deliveryId(request.header) ?? hashSecret(text)).slice(0, 100);
  await keepDelivery({ uuid, id, repository: repository.id, task: event });
  return json(202, { delivery: id }, 'application/json');
};

/** @throws {ApiError} 401 for a delivery that was sent for another app */
const checkApp = ({ header }: ApiRequest, app: GithubAppSettings, appId: number | undefined): void => {
  const target = header('x-github-hook-installation-target-id');
  if ((target !== undefined && target !== String(app.id)) || (appId !== undefined && appId !== app.id)) {
    throw unsigned();
  }
};

const receive = async (request: ApiRequest): Promise<Answer> => {
  const app = environment.githubApp;
  if (!app) throw notFound('Webhook not found.');
  const text = request.text();
  const secret = await appSecret(app, 'webhookSecret');
  if (!secret || !webhookReaders.github.isSigned(request.header, text, secret)) throw unsigned();
  const type = request.header('content-type') ?? '';
  if (!/^application\/json\b/.test(type)) throw unsupported('The body must be JSON: "Content-Type: application/json".');
  const payload = parsed(text);
  const name = request.header('x-github-event');
  if (name === 'ping') return ignore('ping');
  const from = v.safeParse(origin, payload);
  if (!from.success) return ignore('events without an installation');
  const { installation, repository } = from.output;
  checkApp(request, app, installation.app_id);
  if (isAboutInstallations(name)) {
    const outcome = await noteInstallationEvent(app, name, payload);
    return outcome ? json(202, { delivery: outcome }, 'application/json') : ignore('events without an effect');
  }
  if (!repository) return ignore('events without a repository');
  return handleRepository(request, text, payload, { app, number: installation.id, identifier: repository.full_name });
};

export const appWebhookRoutes: Route[] = [
  { ...openRoute('POST', '/webhooks/github-app', 'anyone', receive), maxBytes },
];
