/** Providers of version control that can be connected, by their names in the API. */

interface Provider {
  name: string;
  /** Of providers with one address for everyone. */
  url?: string;
  /** Form of the URL of others. */
  example?: string;
  apiUrl?: string;
  /** Path of the API on other servers. */
  apiPath: string;
  /** False: only access tokens. */
  oauth?: false;
  /** Required permissions of the token. */
  scope: string;
}

const github = {
  apiPath: '/api/v3',
  scope: 'Scope repo; fine-grained: contents read; webhooks, commit statuses and pull requests write.',
};
const gitlab = { apiPath: '/api/v4', scope: 'Scope api, role Maintainer.' };
const bitbucket = {
  apiPath: '',
  scope:
    'Your e-mail address and an API token, as you@example.com:token, with the scopes read of user and workspaces; read, write and admin of repositories; read and write of pull requests; webhooks.',
};
const bitbucketServer = { apiPath: '', scope: 'An HTTP access token with repository admin permission.' };
const azureDevops = {
  apiPath: '',
  oauth: false as const,
  scope:
    'A token for the organization or collection in the URL, with the scopes code (read, write and status) and project and team (read). Its owner must be allowed to edit service hooks.',
};
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
  bitbucket_hosted: {
    ...bitbucket,
    name: 'Bitbucket Cloud',
    url: 'https://bitbucket.org',
    apiUrl: 'https://api.bitbucket.org/2.0',
  },
  bitbucket_data_center: { ...bitbucketServer, name: 'Bitbucket Data Center' },
  ado_services: { ...azureDevops, name: 'Azure DevOps Services', example: 'https://dev.azure.com/<organization>' },
  ado_server: { ...azureDevops, name: 'Azure DevOps Server', example: 'https://ado.example.com/<collection>' },
};

export const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
