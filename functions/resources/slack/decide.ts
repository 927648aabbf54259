import type { Authority } from '#api/authority.ts';
import { ApiError } from '#api/errors.ts';
import type { Standing } from '#api/permissions/granted.ts';
import type { Principal } from '#api/permissions/principal.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Route } from '#api/route.ts';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import { pendingOverride } from '#run/actions.ts';
import { policyCheckId } from '#run/policy-status.ts';
import type { Run } from '#run/run.ts';
import type { Overridable } from '#run/status.ts';
import { taskStageId } from '#run/task-stages.ts';
import type { Click } from './interaction.ts';
import type { SlackApp } from './records.ts';

/**
 * A click as a call of the API's own route by the linked user: permission, state of the run, event and audit trail are
 * those of the route.
 */

/** The API's routes of the decisions; of an override, by the failed policies. */
export type DecisionRoutes = Record<'apply' | 'discard' | Overridable, Route>;

/** A link counts as an API token of the user that was created with it, and never expires (decisions/0274). */
const principalOf = (app: SlackApp, { userId, linkedAt }: { userId: string; linkedAt: string }): Principal => {
  const lifetimeMs = Date.now() - Date.parse(linkedAt);
  // Slack does not tell the address of the user's browser.
  const grants = grantsOfUser(userId, { kind: 'user', lifetimeMs, createdAt: linkedAt, address: undefined });
  return { kind: 'user', userId, tokenId: app.id, lifetimeMs, ...grants };
};

const authorityFor = (authority: Authority, principal: Principal, { slackUser }: Click, { teamId }: SlackApp) => {
  const way = { meta: { slack_workspace: teamId, slack_user: slackUser } };
  const by = { ...principal, kind: 'slack' as const };
  return {
    ...authority,
    authenticate: async () => principal,
    isOfRun: () => false,
    isOfTask: () => false,
    recordRefusal: (context) => authority.recordRefusal({ ...context, ...way, principal: by }),
    withAudit: (context, handle) => authority.withAudit({ ...context, ...way, principal: by }, handle),
  } satisfies Authority as Authority;
};

/** Route and its path parameter. */
const routeFor = (routes: DecisionRoutes, { choice }: Click, run: Run) => {
  if (choice !== 'override') return { route: routes[choice], params: { run: run.id } };
  // Where nothing is to be overridden any more, the route refuses it.
  const which = pendingOverride(run) ?? (run.checks?.policyCheck ? 'policyCheck' : 'policyEvaluation');
  const params: Record<Overridable, Record<string, string>> = {
    policyCheck: { check: policyCheckId(run.id) },
    policyEvaluation: { stage: taskStageId(run.id, 'post_plan') },
  };
  return { route: routes[which], params: params[which] };
};

/** The request of the API's client that this platform is to its own route. */
const requestOf = (request: ApiRequest, { path, method }: Route, params: Record<string, string>, comment: string) => {
  const body = JSON.stringify({ comment });
  return {
    ...request,
    method,
    path,
    params,
    query: new URLSearchParams(),
    // No idempotency key, and no token.
    header: (name: string) => (name === 'user-agent' ? request.header(name) : undefined),
    cookie: () => undefined,
    json: () => JSON.parse(body) as unknown,
    text: () => body,
    form: () => new URLSearchParams(),
    bytesOfBody: () => Buffer.from(body),
    bytes: body.length,
  } satisfies ApiRequest;
};

const refusals: Record<NonNullable<Standing['refuses']>, string> = {
  'user token':
    'This organization accepts no API tokens of users, and a connected Slack account counts as one. Decide on the page.',
  'old sign-in': 'Your last sign-in is too long ago for this organization. Sign in on the page, then click again.',
  'no single sign-on': 'This organization requires single sign-on. Sign in with it on the page once, then click again.',
  'older token':
    'Your membership ended after you connected Slack. Connect Slack again on the page, under Tokens, then click again.',
  'token lifetime':
    'You connected Slack longer ago than this organization allows for tokens. Connect it again on the page, under Tokens.',
  address: 'This organization has an IP allowlist, and Slack does not send your IP address. Decide on the page.',
};

/**
 * @returns why the user may not decide. Undefined when this click or an earlier decision has decided
 * @throws errors of the platform
 */
export const decideByClick = async (
  {
    request,
    authority,
    app,
    routes,
  }: { request: ApiRequest; authority: Authority; app: SlackApp; routes: DecisionRoutes },
  click: Click,
  link: { userId: string; linkedAt: string },
  run: Run,
): Promise<string | undefined> => {
  const principal = principalOf(app, link);
  const { route, params } = routeFor(routes, click, run);
  const comment = `By a button in Slack, as user ${click.slackUser} of workspace ${app.teamId}.`;
  try {
    await route.answer(requestOf(request, route, params, comment), authorityFor(authority, principal, click, app));
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    // The run does not accept the decision now.
    if (error.status === 409) return undefined;
    const { refuses } = await principal.standing(run.organization);
    return refuses ? refusals[refuses] : (error.errors[0]?.detail ?? 'You may not decide this run.');
  }
};
