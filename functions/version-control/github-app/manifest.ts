/** What the platform's GitHub App is (GitHub: registering a GitHub App from a manifest). */

/** What the platform does with a repository. Tokens are for this, whatever else the app may have been given. */
export const repositoryPermissions = {
  contents: 'read',
  metadata: 'read',
  pull_requests: 'write',
  statuses: 'write',
} as const;

/** Comments on pull requests are events of issues; merge queues have a permission of their own. */
const eventPermissions = { issues: 'read', merge_queues: 'read' } as const;

/** What becomes of installations is told without being asked for. */
const events = ['push', 'pull_request', 'issue_comment', 'merge_group'] as const;

const isLoopback = (url: string): boolean => /^(localhost|127\.|\[::1\])/.test(new URL(url).host);

/** @param publicUrl where GitHub and browsers reach the platform, without a slash at the end */
export const manifestOf = ({
  name,
  publicUrl,
  redirectUrl,
}: {
  name: string;
  publicUrl: string;
  redirectUrl: string;
}) => ({
  name,
  url: publicUrl,
  // GitHub cannot deliver to this machine: a webhook there would only fail.
  hook_attributes: { url: `${publicUrl}/webhooks/github-app`, active: !isLoopback(publicUrl) },
  redirect_url: redirectUrl,
  callback_urls: [`${publicUrl}/auth/github-app/callback`],
  public: false,
  request_oauth_on_install: false,
  default_permissions: { ...repositoryPermissions, ...eventPermissions },
  default_events: [...events],
});
