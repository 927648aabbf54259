/** Webhook facts about the repository of a workspace. */

const isLoopback = (url: string | null): boolean =>
  /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(?=[:/]|$)/.test(url ?? '');

/** A platform on this machine: only a forge on this machine can deliver webhooks to it. */
export const isOutOfReach = (repo: { 'webhook-url': string | null; 'repository-http-url': string }): boolean =>
  isLoopback(repo['webhook-url']) && !isLoopback(repo['repository-http-url']);
