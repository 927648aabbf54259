/** Providers of version control that can be connected, by their names in the API. */

interface Provider {
  name: string;
  /** Of providers with one address for everyone. */
  url?: string;
  apiUrl?: string;
  /** Path of the API on other servers. */
  apiPath: string;
  /** Required permissions of the token. */
  scope: string;
}

const github = {
  apiPath: '/api/v3',
  scope: 'Scope repo; fine-grained: contents read; webhooks, commit statuses and pull requests write.',
};
const gitlab = { apiPath: '/api/v4', scope: 'Scope api, role Maintainer.' };
const gitea = { apiPath: '/api/v1', scope: 'Scopes write:repository, write:issue and read:user.' };

export const vcsProviders: Record<string, Provider> = {
  github: { ...github, name: 'GitHub', url: 'https://github.com', apiUrl: 'https://api.github.com', apiPath: '' },
  github_enterprise: { ...github, name: 'GitHub Enterprise' },
  gitlab_hosted: {
    ...gitlab,
    name: 'GitLab.com',
    url: 'https://gitlab.com',
    apiUrl: 'https://gitlab.com/api/v4',
  },
  gitlab_community_edition: { ...gitlab, name: 'GitLab Community Edition' },
  gitlab_enterprise_edition: { ...gitlab, name: 'GitLab Enterprise Edition' },
  gitea: { ...gitea, name: 'Gitea or Forgejo' },
};

export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
