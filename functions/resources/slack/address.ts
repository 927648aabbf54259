import { isLoopback } from '#platform/net/transport/plain-http.ts';

/** Addresses of Slack. GovSlack is the same service on a domain of its own (Slack: GovSlack). */

export const slackUrls = ['https://slack.com', 'https://slack-gov.com'] as const;

/** Slack's own addresses, or a service on this machine that takes Slack's place. */
export const isSlackUrl = (text: string): boolean => {
  if ((slackUrls as readonly string[]).includes(text)) return true;
  const url = URL.parse(text);
  return url !== null && url.origin === text && isLoopback(url);
};

/**
 * Whether an interaction may name the address for replies: `https://hooks.slack.com/…`, regardless of the signature.
 * @param slack address of the app's Slack
 */
export const isReplyUrl = (text: string, slack: string): boolean => {
  const [url, home] = [URL.parse(text), new URL(slack)];
  if (!url || url.username || url.password) return false;
  return isLoopback(home) ? url.origin === home.origin : url.origin === `https://hooks.${home.hostname}`;
};
