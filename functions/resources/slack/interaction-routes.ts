import { type Answer, done } from '#api/answer.ts';
import { ApiError, notFound } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import { environment } from '#platform/environment.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { send } from '#platform/net/outbound/send.ts';
import { logWarning } from '#platform/store/log.ts';
import { getRun } from '#resources/runs/records.ts';
import { getUsers } from '#resources/users/users.ts';
import { isHidden } from '#run/hidden.ts';
import { decidedMessage, decisionOf } from '#run/notifications/choices.ts';
import { slackBody } from '#run/notifications/formats.ts';
import type { Run } from '#run/run.ts';
import { isReplyUrl } from './address.ts';
import { type DecisionRoutes, decideByClick } from './decide.ts';
import { type Click, clickIn } from './interaction.ts';
import { findLink } from './links.ts';
import { findSlackApp, openSigningSecret, type SlackApp } from './records.ts';
import { isSignedBySlack } from './signature.ts';

/**
 * Clicks on buttons of messages in Slack. The signature is verified before the content is read. Slack waits three seconds
 * for the answer, which is empty: what happened is sent to the reply address of the click, and a failure there undoes
 * nothing.
 */

/** A payload contains the message, which is far smaller. */
const maxBytes = 100_000;
const replyLimits = { connectMs: 1_000, totalMs: 1_500, maxBytes: 4_096, sameOrigin: true };

const unsigned = () =>
  new ApiError(401, [
    {
      title: 'unauthorized',
      detail: "The signature is missing, older than five minutes, or not made with the Slack app's signing secret.",
    },
  ]);

const signedApp = async (request: ApiRequest): Promise<SlackApp> => {
  const app = await findSlackApp(request.params.slackApp ?? '');
  if (!app) throw notFound('Slack app not found.');
  const signed = {
    timestamp: request.header('x-slack-request-timestamp') ?? '',
    signature: request.header('x-slack-signature') ?? '',
    body: request.bytesOfBody(),
  };
  if (!isSignedBySlack(signed, await openSigningSecret(app), Date.now())) throw unsigned();
  return app;
};

/** Only the user who clicked sees it, and the message stays (Slack: handling user interaction). */
const onlyFor = (text: string): object => ({ response_type: 'ephemeral', replace_original: false, text });

const replacementFor = async (run: Run): Promise<object> => {
  const { by } = decisionOf(run);
  const [user] = by === undefined ? [] : await getUsers([by]);
  return { replace_original: true, ...slackBody(decidedMessage(run, user?.username ?? by, environment.publicUrl)) };
};

const tokensPage = (): string => `${environment.signIn?.baseUrl ?? environment.publicUrl}/app/settings/tokens`;

const replyTo = async (context: Parameters<typeof decideByClick>[0], click: Click): Promise<object> => {
  const { app } = context;
  if (click.teams.some((team) => team !== app.teamId)) {
    return onlyFor('Only users of the Slack workspace that the organization has set up can decide here.');
  }
  const link = await findLink(app, click.slackUser);
  if (!link) {
    return onlyFor(`Your Slack account is not connected. Connect it at ${tokensPage()}, then click again.`);
  }
  const run = await getRun(click.runId);
  if (run?.organization !== app.organization || !run || isHidden(run))
    return onlyFor('This run does not exist any more.');
  const refusal = await decideByClick(context, click, link, run);
  if (refusal !== undefined) return onlyFor(refusal);
  return replacementFor((await getRun(run.id)) ?? run);
};

const reply = async ({ url }: SlackApp, { replyUrl }: Click, body: object): Promise<void> => {
  if (replyUrl === undefined || !isReplyUrl(replyUrl, url)) return;
  const headers = { 'content-type': 'application/json' };
  try {
    const { status } = await send({ method: 'POST', url: replyUrl, headers, body: JSON.stringify(body) }, replyLimits);
    if (status >= 300) logWarning('Slack refused a reply', { status });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    logWarning('Slack could not be reached', { error: error.message });
  }
};

export const slackInteractionRoutes = (routes: DecisionRoutes): Route[] => [
  {
    ...openRoute('POST', '/slack/{slackApp}/interactions', 'anyone', async (request, authority): Promise<Answer> => {
      const app = await signedApp(request);
      const click = clickIn(request.form().get('payload') ?? '');
      if (click) await reply(app, click, await replyTo({ request, authority, app, routes }, click));
      return done();
    }),
    maxBytes,
  },
];
