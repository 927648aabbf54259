/** Slack on this machine: Sign in with Slack, signed clicks, and the addresses for replies. */
import { createHmac } from 'node:crypto';
import { type Issuer, startIssuer } from './issuer.ts';

export const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
const team = 'T0001';

interface Reply {
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: replies are looked into at any depth
  body: any;
}

export interface Slack {
  url: string;
  replies: Reply[];
  /** Status of the answers to replies. */
  status: number;
  issuer: Issuer;
  /** Attributes of the Slack app. */
  app: Record<string, string>;
  /** The Slack user at the browser. */
  signIn(user: string, workspace?: string): void;
  /** An address for replies. */
  replyUrl: string;
}

export const startSlack = async (): Promise<Slack> => {
  const replies: Reply[] = [];
  const issuer = await startIssuer({
    claims: ['https://slack.com/team_id', 'https://slack.com/user_id'],
    serves: (request, response) => {
      if (!request.url?.startsWith('/actions/')) return false;
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        replies.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(parts).toString()) });
        response.writeHead(slack.status).end('ok');
      });
      return true;
    },
  });
  const slack: Slack = {
    url: issuer.url,
    replies,
    status: 200,
    issuer,
    app: {
      url: issuer.url,
      'team-id': team,
      'client-id': issuer.clientId,
      'client-secret': issuer.clientSecret,
      'signing-secret': signingSecret,
    },
    signIn: (user, workspace = team) => {
      const own = { 'https://slack.com/team_id': workspace, 'https://slack.com/user_id': user };
      issuer.account = { sub: user, own };
    },
    replyUrl: `${issuer.url}/actions/T0001/1/abc`,
  };
  return slack;
};

interface Clicked {
  choice: string;
  runId: string;
  user: string;
  workspace?: string;
  userWorkspace?: string;
  replyUrl?: string;
}

/** The body that Slack sends for a click on a button (Slack: block_actions payloads). */
export const clickOf = ({ choice, runId, user, workspace = team, userWorkspace = workspace, replyUrl }: Clicked) =>
  new URLSearchParams({
    payload: JSON.stringify({
      type: 'block_actions',
      user: { id: user, username: 'name', name: 'name', team_id: userWorkspace },
      api_app_id: 'A0001',
      token: 'unused',
      container: { type: 'message', message_ts: '1.2', channel_id: 'C1', is_ephemeral: false },
      trigger_id: '1.2.3',
      team: { id: workspace, domain: 'example' },
      channel: { id: 'C1', name: 'ops' },
      response_url: replyUrl,
      actions: [
        {
          action_id: `stepform-${choice}`,
          block_id: 'b',
          text: { type: 'plain_text', text: 'Confirm', emoji: false },
          value: runId,
          type: 'button',
          action_ts: '1.2',
        },
      ],
    }),
  }).toString();

/** Headers of a request that Slack signs (Slack: verifying requests from Slack). */
export const signed = (body: string, { secret = signingSecret, atMs = Date.now() } = {}): Record<string, string> => {
  const timestamp = String(Math.floor(atMs / 1000));
  const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${hmac}`,
  };
};
