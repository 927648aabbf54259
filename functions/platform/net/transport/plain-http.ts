/** Decides to which addresses a token may be sent: over TLS, or over plain HTTP on this machine. */

/** Excludes names below `.localhost`, because a resolver may look them up in the network. */
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export const isLoopback = ({ hostname }: Pick<URL, 'hostname'>): boolean => loopback.test(hostname);

const variable = 'STEPFORM_PLAIN_HTTP_HOSTS';

/**
 * A warning if the token would be sent over plain HTTP to another machine; undefined otherwise, and for hosts that the
 * user allows.
 */
export const plainHttpProblem = (url: URL, env: NodeJS.ProcessEnv = process.env): string | undefined => {
  if (url.protocol === 'https:' || isLoopback(url)) return undefined;
  const allowed = (env[variable] ?? '').split(',').map((host) => host.trim());
  if (allowed.includes(url.host)) return undefined;
  return `Your token would be sent to ${url.origin} over plain http, readable on the network. Use https://${url.hostname}, or allow it with ${variable}=${url.host}`;
};
