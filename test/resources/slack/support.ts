import { createHash, randomBytes } from 'node:crypto';
import type { Answered, Api } from '#test/support/api.ts';
import { clickOf, type Slack, signed } from '#test/support/slack.ts';

/** Slack apps, links and clicks by the platform's own routes. */

export const setApp = async (api: Api, slack: Slack, change: object = {}, organization = 'acme') => {
  const body = { data: { attributes: { ...slack.app, ...change } } };
  const answer = await api.call('PUT', `organizations/${organization}/slack-app`, { body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  const { id } = answer.body.data;
  slack.issuer.trust(`https://api.example.test/slack/${id}/callback`);
  return id as string;
};

export const click = async (
  api: Api,
  appId: string,
  what: Parameters<typeof clickOf>[0],
  how: Parameters<typeof signed>[1] = {},
): Promise<Answered> => {
  const body = clickOf(what);
  return api.call('POST', `/slack/${appId}/interactions`, {
    token: null,
    body,
    headers: signed(body, how),
    base64: true,
  });
};

/** A browser's tab. */
export class Tab {
  readonly verifier = randomBytes(32).toString('base64url');
  cookies: string[] = [];

  readonly api: Api;
  readonly slack: Slack;
  readonly appId: string;

  constructor(api: Api, slack: Slack, appId: string) {
    this.api = api;
    this.slack = slack;
    this.appId = appId;
  }

  async open(path: string): Promise<Answered> {
    return this.api.call('GET', path, { token: null, cookies: this.cookies });
  }

  async begin(): Promise<Answered> {
    const challenge = createHash('sha256').update(this.verifier).digest('base64url');
    const asked = { client_id: 'page', code_challenge: challenge, code_challenge_method: 'S256' };
    return this.open(`/slack/${this.appId}/connect?${new URLSearchParams(asked)}`);
  }

  /** The code in the page's address. */
  async code(): Promise<string> {
    const begun = await this.begin();
    this.cookies = [begun.cookies?.[0]?.split(';')[0] ?? ''];
    const back = await this.slack.issuer.visit(begun.headers.location ?? '');
    const came = await this.open(`${back.pathname}${back.search}`);
    if (came.status !== 303) throw new Error(`${came.status} ${came.body}`);
    return new URLSearchParams(String(came.headers.location).split('#')[1]).get('code') ?? '';
  }

  redeem(code: string, token: string, organization = 'acme'): Promise<Answered> {
    const body = { data: { attributes: { code, 'code-verifier': this.verifier } } };
    return this.api.call('PUT', `organizations/${organization}/slack-link`, { token, body });
  }
}

/** Connects a Slack account to the user of the token. */
export const connect = async (
  api: Api,
  slack: Slack,
  appId: string,
  user: string,
  token: string,
  organization = 'acme',
): Promise<void> => {
  slack.signIn(user);
  const tab = new Tab(api, slack, appId);
  const answer = await tab.redeem(await tab.code(), token, organization);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
};
