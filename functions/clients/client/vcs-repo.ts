const isLoopback = (url: string | null): boolean =>
  /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(?=[:/]|$)/.test(url ?? '');

/** Whether the forge cannot deliver webhooks, because the platform has a loopback address and the forge has not. */
export const isOutOfReach = (repo: { 'webhook-url': string | null; 'repository-http-url': string }): boolean =>
  isLoopback(repo['webhook-url']) && !isLoopback(repo['repository-http-url']);
