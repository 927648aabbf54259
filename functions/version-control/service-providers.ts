/** Version control providers by the API's names for them (HCP API: OAuth clients), and what this platform does with each. */

/** Which program answers: it decides paths, payloads and signatures. */
export type Dialect = 'github' | 'gitlab' | 'gitea';

interface ServiceProvider {
  /** For people: `service-provider-display-name`. */
  name: string;
  /** `source` of configuration versions. */
  source: 'github' | 'gitlab' | 'gitea' | 'bitbucket' | 'ado';
  /** Absent: connections are stored, and nothing can be connected with them. */
  dialect?: Dialect;
}

export const serviceProviders = {
  github: { name: 'GitHub', source: 'github', dialect: 'github' },
  github_enterprise: { name: 'GitHub Enterprise', source: 'github', dialect: 'github' },
  /** Not of OAuth clients: the platform has the app, and organizations link installations. */
  github_app: { name: 'GitHub', source: 'github', dialect: 'github' },
  gitlab_hosted: { name: 'GitLab.com', source: 'gitlab', dialect: 'gitlab' },
  gitlab_community_edition: { name: 'GitLab Community Edition', source: 'gitlab', dialect: 'gitlab' },
  gitlab_enterprise_edition: { name: 'GitLab Enterprise Edition', source: 'gitlab', dialect: 'gitlab' },
  gitea: { name: 'Gitea', source: 'gitea', dialect: 'gitea' },
  bitbucket_hosted: { name: 'Bitbucket Cloud', source: 'bitbucket' },
  bitbucket_data_center: { name: 'Bitbucket Data Center', source: 'bitbucket' },
  bitbucket_server: { name: 'Bitbucket Data Center', source: 'bitbucket' },
  bitbucket_server_legacy: { name: 'Bitbucket Data Center', source: 'bitbucket' },
  ado_services: { name: 'Azure DevOps Services', source: 'ado' },
  ado_server: { name: 'Azure DevOps Server', source: 'ado' },
} as const satisfies Record<string, ServiceProvider>;

export type ServiceProviderName = keyof typeof serviceProviders;
/** Those that OAuth clients are for. */
export const serviceProviderNames = Object.keys(serviceProviders).filter(
  (name) => name !== 'github_app',
) as ServiceProviderName[];

export const providerOf = (name: ServiceProviderName): ServiceProvider => serviceProviders[name];
