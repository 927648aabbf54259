/** The manifest of the platform's GitHub App (GitHub: registering a GitHub App from a manifest). */

/** Permissions on a repository that the platform uses. Tokens get no others, even if the app was granted more. */
export const repositoryPermissions = {
  contents: 'read',
  metadata: 'read',
  pull_requests: 'write',
  statuses: 'write',
} as const;

/** Comments on pull requests arrive as events of issues; merge queues need a separate permission. */
const eventPermissions = { issues: 'read', merge_queues: 'read' } as const;

/** Events of installations arrive without a subscription. */
const events = ['push', 'pull_request', 'issue_comment', 'merge_group'] as const;

const isLoopback = (url: string): boolean => /^(localhost|127\.|\[::1\])/.test(new URL(url).host);

/** @param publicUrl URL of the platform for GitHub and browsers, without trailing slash */
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
  // GitHub cannot deliver to this machine, so there is no webhook.
  hook_attributes: { url: `${publicUrl}/webhooks/github-app`, active: !isLoopback(publicUrl) },
  redirect_url: redirectUrl,
  callback_urls: [`${publicUrl}/auth/github-app/callback`],
  public: false,
  request_oauth_on_install: false,
  default_permissions: { ...repositoryPermissions, ...eventPermissions },
  default_events: [...events],
});
