/** Version control providers by their names in the API (HCP API: OAuth clients). */

/** The kind of forge: determines paths, payloads and signatures. */
export type Dialect = 'github' | 'gitlab' | 'gitea' | 'bitbucket' | 'bitbucket-server' | 'azure-devops';

interface ServiceProvider {
  /** Display name: `service-provider-display-name`. */
  name: string;
  /** `source` of configuration versions. */
  source: 'github' | 'gitlab' | 'gitea' | 'bitbucket' | 'ado';
  dialect: Dialect;
}

export const serviceProviders = {
  github: { name: 'GitHub', source: 'github', dialect: 'github' },
  github_enterprise: { name: 'GitHub Enterprise', source: 'github', dialect: 'github' },
  /** Not for OAuth clients: the app belongs to the platform, and organizations link installations. */
  github_app: { name: 'GitHub', source: 'github', dialect: 'github' },
  gitlab_hosted: { name: 'GitLab.com', source: 'gitlab', dialect: 'gitlab' },
  gitlab_community_edition: { name: 'GitLab Community Edition', source: 'gitlab', dialect: 'gitlab' },
  gitlab_enterprise_edition: { name: 'GitLab Enterprise Edition', source: 'gitlab', dialect: 'gitlab' },
  gitea: { name: 'Gitea', source: 'gitea', dialect: 'gitea' },
  bitbucket_hosted: { name: 'Bitbucket Cloud', source: 'bitbucket', dialect: 'bitbucket' },
  bitbucket_data_center: { name: 'Bitbucket Data Center', source: 'bitbucket', dialect: 'bitbucket-server' },
  bitbucket_server: { name: 'Bitbucket Data Center', source: 'bitbucket', dialect: 'bitbucket-server' },
  bitbucket_server_legacy: { name: 'Bitbucket Data Center', source: 'bitbucket', dialect: 'bitbucket-server' },
  ado_services: { name: 'Azure DevOps Services', source: 'ado', dialect: 'azure-devops' },
  ado_server: { name: 'Azure DevOps Server', source: 'ado', dialect: 'azure-devops' },
} as const satisfies Record<string, ServiceProvider>;

export type ServiceProviderName = keyof typeof serviceProviders;
/** Providers of OAuth clients. */
export const serviceProviderNames = Object.keys(serviceProviders).filter(
  (name) => name !== 'github_app',
) as ServiceProviderName[];

export const providerOf = (name: ServiceProviderName): ServiceProvider => serviceProviders[name];
