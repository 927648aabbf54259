import { type Answer, json } from '#api/answer.ts';
import { ApiError, badRequest, notFound, unsupported } from '#api/errors.ts';
import { RateLimit } from '#api/rate-limit.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import { inBatches } from '#platform/store/batches.ts';
import { hashSecret } from '#platform/store/id.ts';
import { countRequests } from '#platform/store/request-counts.ts';
import { keepDelivery } from './deliveries.ts';
import type { ForgeEvent } from './forges/events.ts';
import type { WebhookReader } from './forges/forge.ts';
import { webhookReaders } from './forges/webhook-readers.ts';
import { type FollowedRepository, hookSecrets, openHookSecret, repositoryOfHook } from './repositories.ts';
import { recordVcsEvent } from './vcs-events.ts';

/**
 * Webhooks. The address determines the forge. The signature is verified before the content is read; the delivery is
 * stored, answered at once and handled later: forges wait only a few seconds.
 */

/** Lambda accepts events of 6 MB. API Gateway encodes the body in Base64, which takes a third more. */
export const maxBytes = 4_500_000;
const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether one of the valid secrets signed it: there are two during a rotation. */
const isSigned = async (forge: WebhookReader, request: ApiRequest, text: string, repository: FollowedRepository) => {
  for (const sealed of hookSecrets(repository)) {
    if (forge.isSigned(request.header, text, await openHookSecret(repository, sealed))) return true;
  }
  return false;
};

export const unsigned = () =>
  new ApiError(401, [
    { title: 'unauthorized', detail: "The signature is missing, or was not made with this webhook's secret." },
  ]);

/** Time of the last event about a wrong signature, by webhook: limits them to one a minute. */
const told = new Map<string, number>();

const tellUnsigned = async ({
  uuid,
  organization,
  clientId,
  tokenId,
  identifier,
}: FollowedRepository): Promise<void> => {
  if (Date.now() - (told.get(uuid) ?? 0) < 60_000) return;
  if (told.size > 1000) told.clear();
  told.set(uuid, Date.now());
  await recordVcsEvent({
    organization,
    clientId,
    tokenId,
    level: 'error',
    message: `Refused: a delivery for ${identifier} was not signed with the webhook's secret`,
    suggestedAction: "If it came from the provider, rotate the webhook's secret.",
  });
};

const read = (forge: WebhookReader, request: ApiRequest, text: string): ForgeEvent[] => {
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    throw badRequest('The body is not valid JSON.');
  }
  try {
    return forge.eventsOf(request.header, payload);
  } catch {
    throw badRequest('The body is not a valid webhook of this provider.');
  }
};

/**
 * Maximum deliveries per second and repository, because each causes work. A rejected delivery loses no commit: on the
 * next delivery, the platform reads the branch's commit from the forge.
 */
const perSecond = 20;
const bound = new RateLimit(perSecond, countRequests);

/** @throws {ApiError} 429 */
export const checkFlood = async ({
  uuid,
  identifier,
}: Pick<FollowedRepository, 'uuid' | 'identifier'>): Promise<void> => {
  if ((await bound.admit(`webhook ${uuid}`, Date.now())).admitted) return;
  const detail = `More than ${perSecond} deliveries a second for ${identifier}. Deliver again later.`;
  throw new ApiError(429, [{ title: 'Too many requests', detail }]);
};

/** Tasks of one delivery: of a push that changes more branches and tags, the others are left out. */
const maxTasks = 100;
const tellLeftOut = ({ organization, clientId, tokenId, identifier }: FollowedRepository, count: number) =>
  recordVcsEvent({
    organization,
    clientId,
    tokenId,
    level: 'error',
    message: `A push to ${identifier} changed ${count} branches and tags; only the first ${maxTasks} were handled`,
    suggestedAction: 'Check for new commits in workspaces that follow the others.',
  });

const receive = async (request: ApiRequest): Promise<Answer> => {
  const uuid = request.params.uuid ?? '';
  const repository = uuidForm.test(uuid) ? await repositoryOfHook(uuid) : undefined;
  if (!repository) throw notFound('Webhook not found.');
  const forge = webhookReaders[repository.dialect];
  const text = request.text();
  if (!(await isSigned(forge, request, text, repository))) {
    await tellUnsigned(repository);
    throw unsigned();
  }
  const type = request.header('content-type') ?? '';
  if (!/^application\/json\b/.test(type)) throw unsupported('The body must be JSON: "Content-Type: application/json".');
  const events = read(forge, request, text);
  const tasks = events.filter((event) => event.kind !== 'ignored');
  if (tasks.length === 0) {
    const why = events.map((event) => (event.kind === 'ignored' ? event.why : '')).join('; ');
    return json(200, { ignored: why.slice(0, 500) }, 'application/json');
  }
  // A delivery of another repository, signed with this one's secret.
  if (tasks.some(({ repositoryId }) => repositoryId !== repository.forgeId)) throw unsigned();
  await checkFlood(repository);
  const id = (forge.deliveryId(request.header) ?? hashSecret(text)).slice(0, 100);
  if (tasks.length > maxTasks) await tellLeftOut(repository, tasks.length);
  await inBatches([...tasks.slice(0, maxTasks).entries()], async ([i, task]) => {
    await keepDelivery({ uuid, id: i === 0 ? id : `${id}-${i}`, repository: repository.id, task });
  });
  return json(202, { delivery: id }, 'application/json');
};

export const webhookRoutes: Route[] = [{ ...openRoute('POST', '/webhooks/vcs/{uuid}', 'anyone', receive), maxBytes }];
