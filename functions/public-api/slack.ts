import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { runActionRoutes } from '#lifecycle/decisions/action-routes.ts';
import { decide } from '#lifecycle/decisions/decisions.ts';
import { policyResultRoutes } from '#resources/policies/result-routes.ts';
import { taskStageRoutes } from '#resources/run-tasks/stage-routes.ts';
import { slackAppRoutes } from '#resources/slack/app-routes.ts';
import { slackConnectRoutes } from '#resources/slack/connect-routes.ts';
import { slackInteractionRoutes } from '#resources/slack/interaction-routes.ts';
import { slackLinkRoutes } from '#resources/slack/link-routes.ts';
import { authority } from './authority.ts';

const decisions = [...runActionRoutes, ...policyResultRoutes(decide), ...taskStageRoutes(decide)];

const at = (path: string): Route => {
  const found = decisions.find((route) => route.method === 'POST' && route.path === path);
  if (!found) throw new Error(`no route ${path}`);
  return found;
};

/** Decisions by buttons in Slack, the Slack apps of organizations, and the accounts that users connect. */
export const routes: Route[] = [
  ...slackInteractionRoutes({
    apply: at('/runs/{run}/actions/apply'),
    discard: at('/runs/{run}/actions/discard'),
    policyCheck: at('/policy-checks/{check}/actions/override'),
    policyEvaluation: at('/task-stages/{stage}/actions/override'),
  }),
  ...slackConnectRoutes,
  ...versioned([...slackAppRoutes, ...slackLinkRoutes]),
];

export const handler = serve(routes, authority);
